#pragma once
#include <string>
#include <vector>

#include "knowledge/knowledge_table.h"

namespace protocom {

/// A table of `class_names` over the attributes named, in these orders, without embeddings of the attributes. A
/// class that the knowledge does not name gets no attributes and a zero embedding; attributes that it does not name are
/// 0 for every class. Both are reported through the logger. Throws Error when not one class is known.
KnowledgeTable align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes);

}  // namespace protocom
