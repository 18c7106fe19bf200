#pragma once

namespace protocom {

/// Registers this module as the one that trains (training/torch_functions.h).
void provide_trainers();

}  // namespace protocom
