#pragma once

namespace protocom {

/// Makes this module the one that trains (training/torch_functions.h).
void provide_trainers();

}  // namespace protocom
