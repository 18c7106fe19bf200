#pragma once
#include <vector>

#include "fewshot/detail/method_definition.h"

namespace protocom::methods {

/// The definitions of all files of methods/. The build writes the function (cmake/ProtocomMethods.cmake).
std::vector<MethodDefinition> list();

}  // namespace protocom::methods
