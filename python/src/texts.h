#pragma once
#include <memory>

#include "encoders/text_encoder.h"

namespace protocom::python {

/// A text encoder, shared by the recognizers that describe classes with it.
using SharedTextEncoder = std::shared_ptr<const TextEncoder>;

}  // namespace protocom::python
