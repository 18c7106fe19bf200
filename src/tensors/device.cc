#include "tensors/device.h"

#include <ATen/Context.h>
#include <torch/cuda.h>

#include "base/error.h"

namespace protocom {

c10::Device parse_device(const std::string& text) {
  const bool cuda = at::hasCUDA();
  if (text == "auto") return cuda ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
  if (text == "cpu") return c10::Device(c10::kCPU);
  if (text != "cuda" && text.rfind("cuda:", 0) != 0) {
    fail_usage("unknown device '{}': expected cpu, cuda, cuda:N or auto", text);
  }
  if (!cuda) fail_usage("device '{}' was requested, but this LibTorch sees no CUDA device", text);
  c10::Device device(c10::kCUDA, 0);
  try {
    if (text != "cuda") device = c10::Device(text);
  } catch (const c10::Error&) {
    fail_usage("unknown device '{}': expected cpu, cuda, cuda:N or auto", text);
  }
  const auto devices = static_cast<int64_t>(torch::cuda::device_count());
  if (device.index() >= devices)
    fail_usage("device '{}' was requested: expected cuda:0 to cuda:{}, found {} CUDA devices", text, devices - 1,
               devices);
  return device;
}

}  // namespace protocom
