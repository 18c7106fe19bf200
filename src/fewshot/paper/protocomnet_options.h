#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"

namespace protocom {

/// The sizes of a ProtoComNet; the defaults are the paper's (section 4.2).
struct ProtoComNetOptions {
  int64_t feature_dim = 512;       ///< d
  int64_t embedding_dim = 300;     ///< e
  int64_t code_dim = 256;          ///< width of the encoder g_e
  int64_t attention_hidden = 300;  ///< hidden layer of the aggregator g_a
  int64_t decoder_hidden = 512;    ///< hidden layer of the decoder g_d
};

/// Returns names and shapes of its weights: encoder.{weight,bias}, aggregator.{0,2}.{weight,bias},
/// decoder.{0,2}.{weight,bias}, each weight [out, in] before its bias [out].
std::vector<std::pair<std::string, Shape>> weight_shapes(const ProtoComNetOptions& sizes);

}  // namespace protocom
