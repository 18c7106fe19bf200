#pragma once
#include <string>

#include "protocom/fewshot/method_spec.h"

namespace protocom {

/// The method that a label ("gauss-fusion:scale=20") is of; null for one that protocom does not know, as in results of
/// other programs.
const MethodSpec* spec_of(const std::string& label);

}  // namespace protocom
