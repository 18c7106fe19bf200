#pragma once

#include "nn/tflite/translator.h"

namespace protocom::tflite {

/// Adds to a model what one operator of the file computes. Throws where it is not one of those of image networks.
using Translate = void (*)(Translator&, const Operator&);

/// That of a BuiltinOperator; null: not read.
Translate translation_of(int32_t code);

}  // namespace protocom::tflite
