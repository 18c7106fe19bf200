#pragma once
#include <c10/core/Device.h>

#include <string>
#include <string_view>

namespace protocom {

/// The number format of convolutions and matrix products. Weights, statistics, losses and features stay float32 either
/// way.
enum class Precision {
  kAuto,  ///< bfloat16 where the device multiplies it natively (AVX-512 BF16, CUDA from Ampere on), float32 elsewhere
  kFloat32,  ///< float32 throughout
  kBFloat16  ///< bfloat16 products with float32 accumulation: about twice as fast where native, features differ by
             ///< about 1 %; on CUDA what stays float32 may use TF32
};

/// "auto", "float32" or "bfloat16". Throws UsageError for anything else.
Precision parse_precision(const std::string& text);
/// The text that parse_precision understands.
std::string_view to_string(Precision precision);

/// Replaces kAuto by what `device` multiplies natively; the others stay.
Precision resolve_precision(Precision precision, c10::Device device);

/// While it lives, this thread's operators on `device` run in `precision` (LibTorch's autocast); the previous state
/// comes back after it.
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
