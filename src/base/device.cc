#include "base/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <omp.h>
#include <sched.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

/// Cores granted by a cgroup v2 quota, or a large number when there is none.
double cgroup_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 1e9;
  return std::stod(quota) / period;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const double granted = std::max(1.0, std::floor(cgroup_cores()));
  return std::max(1, to_whole<int>(std::min<double>(allowed, granted)));
}

void set_threads(int threads) {
  const int count = threads > 0 ? threads : usable_cores();
  omp_set_num_threads(count);  // LibTorch's own call does not reach a BLAS that asks OpenMP
  at::set_num_threads(count);
}

c10::Device parse_device(const std::string& text) {
  const bool cuda = at::hasCUDA();
  if (text == "auto") return cuda ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
  if (text == "cpu") return c10::Device(c10::kCPU);
  if (text != "cuda" && text.rfind("cuda:", 0) != 0) {
    fail_usage("unknown device '{}'; use cpu, cuda, cuda:N or auto", text);
  }
  if (!cuda) fail_usage("device '{}' was asked for, but this LibTorch sees no CUDA device", text);
  c10::Device device(c10::kCUDA, 0);
  try {
    if (text != "cuda") device = c10::Device(text);
  } catch (const c10::Error&) {
    fail_usage("unknown device '{}'; use cpu, cuda, cuda:N or auto", text);
  }
  const auto devices = static_cast<int64_t>(torch::cuda::device_count());
  if (device.index() >= devices)
    fail_usage("device '{}' was asked for, there are {} CUDA devices, from cuda:0 on", text, devices);
  return device;
}

}  // namespace protocom
