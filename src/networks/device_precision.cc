#include "networks/device_precision.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <ATen/autocast_mode.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "base/error.h"

namespace protocom {
namespace {

#if defined(__x86_64__)
/// Whether there are AMX tiles that a virtual machine does not hide.
bool has_amx_bfloat16() {
  constexpr unsigned kFeatures = 7;
  constexpr unsigned kAmxBfloat16 = 1U << 22;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (d & kAmxBfloat16) != 0;
}
#endif

/// Whether convolutions are faster in bfloat16 than in float32. With the instructions of AVX-512 they are twice as fast
/// on AMD's processors, and half as fast on an Intel Xeon without tiles (docs/log/speed.md).
bool cpu_is_fast_in_bfloat16() {
#if defined(__x86_64__)
  return has_amx_bfloat16() || (__builtin_cpu_is("amd") != 0 && __builtin_cpu_supports("avx512bf16") != 0);
#else
  return false;
#endif
}

/// Whether bfloat16 products are summed in float32. Tried, not looked up: it depends on the processor, on LibTorch and
/// oneDNN, and on their variables (DNNL_MAX_CPU_ISA). Ones are exact in bfloat16 and so are these sums, but a bfloat16
/// sum of ones ends at 256.
bool cpu_sums_bfloat16_in_float32() {
  static const bool kAnswer = [] {
    const torch::NoGradGuard no_grad;
    const auto ones = [](at::IntArrayRef shape) { return torch::ones(shape, at::kBFloat16); };
    try {
      const at::Tensor product = at::mm(ones({64, 1024}), ones({1024, 64}));
      const at::Tensor convolved = at::conv2d(ones({2, 64, 8, 8}), ones({64, 64, 3, 3}));
      return product.eq(1024).all().item<bool>() && convolved.eq(576).all().item<bool>();
    } catch (const std::exception&) {
      return false;  // oneDNN has no implementation for this processor
    }
  }();
  return kAnswer;
}

// LibTorch 2.4 replaced autocast's interface per device by one for all devices.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool autocast_enabled(c10::DeviceType type) { return at::autocast::is_autocast_enabled(type); }
void set_autocast(c10::DeviceType type, bool enabled) {
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, enabled);
}
#else
bool autocast_enabled(c10::DeviceType type) {
  return type == c10::kCUDA ? at::autocast::is_enabled() : at::autocast::is_cpu_enabled();
}
void set_autocast(c10::DeviceType type, bool enabled) {
  if (type == c10::kCUDA) {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(enabled);
  } else {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  }
}
#endif

/// Allows the tensor cores' 19-bit inputs for what autocast leaves in float32; only together with bfloat16.
void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

}  // namespace

Precision resolve_precision(Precision precision, c10::Device device) {
  if (precision == Precision::kFloat32) return precision;
  if (device.is_cuda()) return Precision::kBFloat16;
  const bool asked = precision == Precision::kBFloat16;
  const bool sums = device.is_cpu() && (asked || cpu_is_fast_in_bfloat16()) && cpu_sums_bfloat16_in_float32();
  if (asked && !sums) {
    fail_usage("precision bfloat16 is not supported on '{}' (a CPU needs AVX-512): use float32 or auto", device.str());
  }
  return sums ? Precision::kBFloat16 : Precision::kFloat32;
}

PrecisionScope::PrecisionScope(Precision precision, c10::Device device)
    : type_(device.type()), was_enabled_(autocast_enabled(device.type())) {
  const bool bfloat16 = resolve_precision(precision, device) == Precision::kBFloat16;
  if (device.is_cuda()) allow_tf32(bfloat16);
  set_autocast(type_, bfloat16);
}

PrecisionScope::~PrecisionScope() {
  set_autocast(type_, was_enabled_);
  // Cached bfloat16 weights would outlive the next change of the float32 ones.
  at::autocast::clear_cache();
}

}  // namespace protocom
