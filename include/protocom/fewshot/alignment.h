#pragma once
#include <string>
#include <vector>

#include "protocom/core/knowledge_table.h"
#include "protocom/fewshot/completer.h"

namespace protocom {

/// The rows of `class_names` over the attributes named, from what is known: association [c, a], embedding [c, e]. A
/// class that the knowledge does not name gets no attributes and a zero embedding; attributes that it does not name are
/// 0 for every class. Both are reported through the logger. Throws Error when not one class is known.
ClassKnowledge align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes);

}  // namespace protocom
