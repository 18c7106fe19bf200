#include "networks/onnx/detail/windows.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace protocom::onnx {
namespace {

constexpr int64_t kMost = 4096;  // of a window's side, step or padding

Sizes two(const Binding& binding, const char* name, int64_t otherwise, int64_t least) {
  const Sizes values = binding.integers(name, {otherwise, otherwise});
  const bool fits = values.size() == 2 && std::all_of(values.begin(), values.end(),
                                                      [&](int64_t value) { return value >= least && value <= kMost; });
  if (!fits) fail("{} are {}, expected two from {} to {}", name, fmt::join(values, ", "), least, kMost);
  return values;
}

int64_t reach(const Window& window, size_t i) { return window.dilations[i] * (window.kernel[i] - 1) + 1; }

/// Pads for an output of the input's size over the stride, rounded up.
void pad_as_input(const Sizes& input, bool more_at_end, Window& window) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t size = input[2 + i];
    const int64_t places = (size + window.strides[i] - 1) / window.strides[i];
    const int64_t all = std::max<int64_t>(0, (places - 1) * window.strides[i] + reach(window, i) - size);
    window.begin[i] = more_at_end ? all / 2 : all - all / 2;
    window.end[i] = all - window.begin[i];
  }
}

}  // namespace

Window window_of(const Binding& binding, Sizes kernel) {
  const Sizes& input = binding.sizes(0);
  if (input.size() != 4 || kernel.size() != 2)
    fail("the input has {} axes and the window {}, expected images", input.size(), kernel.size());
  Window window;
  window.kernel = std::move(kernel);
  window.strides = two(binding, "strides", 1, 1);
  window.dilations = two(binding, "dilations", 1, 1);
  window.ceil = binding.whole("ceil_mode", 0) != 0;
  const Sizes pads = binding.integers("pads", {0, 0, 0, 0});
  if (pads.size() != 4) fail("pads are {}, expected four", fmt::join(pads, ", "));
  window.begin = {pads[0], pads[1]};
  window.end = {pads[2], pads[3]};
  const std::string automatic = binding.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    pad_as_input(input, automatic == "SAME_UPPER", window);
  else if (automatic == "VALID")
    window.begin = window.end = {0, 0};
  else if (automatic != "NOTSET" && !automatic.empty())
    fail("auto_pad='{}' is not supported", excerpt(automatic));
  for (size_t i = 0; i < 2; ++i) {
    const int64_t beyond = window.ceil ? window.strides[i] - 1 : 0;  // the last window may extend over the edge
    const bool fits = window.kernel[i] >= 1 && window.kernel[i] <= kMost && window.begin[i] >= 0 &&
                      window.end[i] >= 0 && window.begin[i] <= kMost && window.end[i] <= kMost &&
                      input[2 + i] + window.begin[i] + window.end[i] + beyond >= reach(window, i);
    if (!fits)
      fail("the window of {} is larger than the input of {} (images may be too small)", window.kernel[i], input[2 + i]);
  }
  return window;
}

void check_maps(const Window& window, const Sizes& input, int64_t channels) {
  Sizes sizes = {input[0], channels};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t free = input[2 + i] + window.begin[i] + window.end[i] - reach(window, i);
    sizes.push_back(free / window.strides[i] + 2);
  }
  check_elements(sizes);
  check_elements(
      {input[0], input[1], input[2] + window.begin[0] + window.end[0], input[3] + window.begin[1] + window.end[1]});
}

}  // namespace protocom::onnx
