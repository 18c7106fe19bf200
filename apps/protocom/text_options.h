#pragma once
#include "protocom/knowledge/class_texts.h"
#include "protocom/nn/text_encoder.h"

namespace protocom::cli {

/// The vectors of classes by their texts, float32 [c, d] of unit length; says how many texts were cut. Throws Error.
at::Tensor encode_classes(const TextEncoder& encoder, const ClassTexts& texts);

/// The file of a text encoder's folder that says which encoder it is.
std::filesystem::path encoder_weights(const std::filesystem::path& folder);

}  // namespace protocom::cli
