#pragma once
#include <string_view>

namespace protocom {

/// The number format of convolutions and matrix products. Weights, statistics, losses and features are float32 in any
/// case. Neither format gives the same bits on every processor: sums of float32 products depend on the width of vectors
/// (features then agree to about 1e-5, a training drifts apart), and bfloat16 products are also rounded to 8 bits.
enum class Precision {
  kAuto,     ///< bfloat16 if the device is faster with it (AMX; AVX-512 BF16 of AMD; CUDA), else float32
  kFloat32,  ///< float32 throughout
  kBFloat16  ///< bfloat16 products with float32 accumulation: about twice as fast if native, features differ by about 1
             ///< %; on CUDA the float32 parts may use TF32. A CPU needs AVX-512 for it (slow without its BF16
             ///< instructions): others accumulate in bfloat16, which is stuck at 256 when it adds ones, or not at all
};

/// Parses "auto", "float32" or "bfloat16". Throws UsageError for anything else.
Precision parse_precision(std::string_view text);
/// Returns the text that parse_precision accepts.
std::string_view to_string(Precision precision);

}  // namespace protocom
