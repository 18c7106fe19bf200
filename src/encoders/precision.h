#pragma once
#include <string_view>

namespace protocom {

/// The number format of convolutions and matrix products. Weights, statistics, losses and features stay float32 either
/// way. Neither format gives the same bits on every processor: float32 products are summed in the order of the vectors
/// (features then agree to about 1e-5, a training drifts apart), bfloat16 ones are rounded to 8 bits besides.
enum class Precision {
  kAuto,     ///< bfloat16 where the device is faster in it (AMX; AVX-512 BF16 of AMD; CUDA), float32 elsewhere
  kFloat32,  ///< float32 throughout
  kBFloat16  ///< bfloat16 products with float32 accumulation: about twice as fast where native, features differ by
             ///< about 1 %; on CUDA what stays float32 may use TF32. A CPU needs AVX-512 for it (slow without its BF16
             ///< instructions): others sum in bfloat16, which is stuck at 256 when it adds ones, or not at all
};

/// "auto", "float32" or "bfloat16". Throws UsageError for anything else.
Precision parse_precision(std::string_view text);
/// The text that parse_precision understands.
std::string_view to_string(Precision precision);

}  // namespace protocom
