#include "text_options.h"

#include <ATen/ATen.h>

#include "cli.h"

namespace protocom::cli {

at::Tensor encode_classes(const TextEncoder& encoder, const ClassTexts& texts) {
  const TextVectors made = encoder.encode(texts.texts);
  if (made.cut > 0)
    logger().warn("{} of {} texts are longer than the encoder's {} tokens: their ends were left out", made.cut,
                  texts.texts.size(), encoder.longest());
  return class_directions(texts, made.vectors);
}

std::filesystem::path encoder_weights(const std::filesystem::path& folder) { return folder / "model.safetensors"; }

}  // namespace protocom::cli
