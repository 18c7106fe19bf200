#pragma once

namespace protocom {

/// Provides what encoders/torch_functions.h names. (Threads follow by themselves where tensors/tensors.h is used.)
void provide_networks();

}  // namespace protocom
