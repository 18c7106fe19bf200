#pragma once
#include <string>
#include <vector>

#include "knowledge/knowledge_table.h"

namespace protocom {

/// Returns a table of `class_names` over the attributes given, in these orders, without embeddings of the attributes.
/// Classes unknown to the knowledge get no attributes and a zero embedding; unknown attributes are 0 for every class.
/// Both are logged. Throws Error if no class is known.
KnowledgeTable align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes);

}  // namespace protocom
