#pragma once
#include <string>
#include <vector>

#include "protocom/fewshot/completer.h"
#include "protocom/knowledge/knowledge.h"

namespace protocom {

/// The rows of `class_names` over the attributes named, from a knowledge file: association [c, a], embedding [c, e]. A
/// class that the knowledge does not name gets no attributes and a zero embedding; attributes that it does not name are
/// 0 for every class. Both are reported through the logger. Throws Error when not one class is known.
ClassKnowledge align_knowledge(const Knowledge& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes);

}  // namespace protocom
