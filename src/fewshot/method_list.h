#pragma once
#include <vector>

#include "fewshot/method_definition.h"

namespace protocom::methods {

// The definitions in all files of a folder. The build writes both functions (cmake/ProtocomMethods.cmake).

std::vector<MethodDefinition> list();          ///< of methods/
std::vector<MethodDefinition> trained_list();  ///< of trained/

}  // namespace protocom::methods
