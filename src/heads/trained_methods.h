#pragma once

namespace protocom {

/// Makes this module the one that makes the methods that are trained by gradients (fewshot/torch_functions.h).
void provide_trained_methods();

}  // namespace protocom
