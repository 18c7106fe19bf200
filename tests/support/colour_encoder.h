#pragma once
#include <ATen/ATen.h>

#include <string>

#include "support/onnx_writer.h"

namespace protocom::testing {

/// Returns an ONNX file whose feature for images of `side` pixels is their mean colour, times `scale`. `stated`: what
/// it says of its images (docs/formats.md), empty for nothing.
inline std::string colour_encoder(int64_t side, const std::string& stated = "", float scale = 1) {
  OnnxWriter writer;
  writer.input("images", {-1, 3, side, side});
  writer.raw("scale", at::full({1}, scale));
  writer.node("GlobalAveragePool", {"images"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"flat"});
  writer.node("Mul", {"flat", "scale"}, {"features"});
  writer.output("features", {-1, 3});
  if (!stated.empty()) writer.metadata("preprocessing.json", stated);
  return writer.bytes();
}

/// Returns such a file with colours clamped to [0, 1]: an encoder that takes RGB unnormalised, and says nothing of it.
inline std::string clipped_colour_encoder(int64_t side) {
  OnnxWriter writer;
  writer.input("images", {-1, 3, side, side});
  writer.raw("least", at::zeros({}));
  writer.raw("most", at::ones({}));
  writer.node("Clip", {"images", "least", "most"}, {"clipped"});
  writer.node("GlobalAveragePool", {"clipped"}, {"mean"});
  writer.node("Flatten", {"mean"}, {"features"});
  writer.output("features", {-1, 3});
  return writer.bytes();
}

/// Returns what such a file states if it takes RGB in [0, 1].
inline std::string stated_side(int64_t side) { return "{\"image_size\": " + std::to_string(side) + "}"; }

}  // namespace protocom::testing
