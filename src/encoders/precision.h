#pragma once
#include <c10/core/Device.h>

#include <string>
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

/// Replaces kAuto by what `device` is fastest in; the others stay. Throws UsageError for kBFloat16 on a CPU that
/// does not sum its products in float32, which a small convolution and matrix product find out once a process.
Precision resolve_precision(Precision precision, c10::Device device);

/// While it lives, this thread's operators on `device` run in `precision` (LibTorch's autocast); the previous state
/// comes back after it. Throws what resolve_precision throws.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, c10::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  c10::DeviceType type_;
  bool was_enabled_ = false;
};

}  // namespace protocom
