#pragma once
#include <c10/core/Device.h>

#include <string>

namespace protocom {

/// Parses "cpu", "cuda", "cuda:1" or "auto" (the first CUDA device if there is one). Throws UsageError if there is no
/// such device.
c10::Device parse_device(const std::string& text);

}  // namespace protocom
