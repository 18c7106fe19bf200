#include "fewshot/torch_functions.h"

namespace protocom {

PluginFunction<std::unique_ptr<Method>(const std::string&, const void*)> torch_make_trained(
    "a method that is trained by gradients");

}  // namespace protocom
