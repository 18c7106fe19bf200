#pragma once

namespace protocom {

/// Provides the functions of encoders/torch_functions.h. (Thread counts follow automatically where tensors/tensors.h is
/// used.)
void provide_networks();

}  // namespace protocom
