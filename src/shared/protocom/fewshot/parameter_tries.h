#pragma once
#include <map>
#include <string>
#include <vector>

#include "protocom/fewshot/method_spec.h"

namespace protocom {

/// Values that are worth trying of parameters besides their defaults, by the parameter's name.
using ParameterTries = std::map<std::string, std::vector<ParameterValue>>;

/// What `protocom tune` tries of a method, each beside its parameter in the method's own file. Throws UsageError for a
/// name that no method has.
const ParameterTries& parameter_tries(const std::string& method);

}  // namespace protocom
