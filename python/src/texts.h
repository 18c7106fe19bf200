#pragma once
#include <memory>

#include "encoders/text_encoder.h"

namespace protocom::python {

/// Shared by the recognizers that describe classes with it.
using SharedTextEncoder = std::shared_ptr<const TextEncoder>;

}  // namespace protocom::python
