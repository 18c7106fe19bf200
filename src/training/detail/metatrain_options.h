#pragma once
#include "training/metatrain.h"

namespace protocom {

/// Throws for options out of range and inputs that do not fit them (see metatrain()).
void check_metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options);

}  // namespace protocom
