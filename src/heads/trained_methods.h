#pragma once

namespace protocom {

/// Registers this module as the maker of the methods that are trained by gradients (fewshot/torch_functions.h).
void provide_trained_methods();

}  // namespace protocom
