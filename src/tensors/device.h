#pragma once
#include <c10/core/Device.h>

#include <string>

namespace protocom {

/// Sets the threads of LibTorch's operators, of OpenMP and so of BLAS; `threads` <= 0 means usable_cores(). LibTorch
/// starts with one thread on some machines, so every program calls this once at start.
void set_threads(int threads);

/// "cpu", "cuda", "cuda:1" or "auto" (the first CUDA device if there is one). Throws UsageError when there is no such
/// device.
c10::Device parse_device(const std::string& text);

}  // namespace protocom
