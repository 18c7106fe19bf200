#pragma once
#include <c10/core/Device.h>

#include "encoders/precision.h"

namespace protocom {

/// Replaces kAuto by the fastest precision of `device`; the others stay. Throws UsageError for kBFloat16 on a CPU that
/// does not sum its products in float32, which is tested by a small convolution and matrix product once per process.
Precision resolve_precision(Precision precision, c10::Device device);

/// During its lifetime, this thread's operators on `device` run in `precision` (LibTorch's autocast); the previous
/// state is restored after it. Throws what resolve_precision throws.
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
