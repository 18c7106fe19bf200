#pragma once
#include <vector>

#include "fewshot/method_definition.h"

namespace protocom::methods {

// The definitions of all files of a folder methods/. The build writes both functions (cmake/ProtocomMethods.cmake).

std::vector<MethodDefinition> list();          ///< of fewshot
std::vector<MethodDefinition> trained_list();  ///< of heads

}  // namespace protocom::methods
