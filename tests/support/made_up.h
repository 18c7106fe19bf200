#pragma once
#include <ATen/ATen.h>

#include <cmath>
#include <string>

namespace protocom::testing {

/// Same as `noise` of tests/golden/made_up.py.
inline at::Tensor noise(int64_t count, double shift) {
  const at::Tensor value = 43758.5453 * (12.9898 * at::arange(count, at::kDouble) + shift).sin();
  return 2 * (value - value.floor()) - 1;
}

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Same as `made_up` there.
inline at::Tensor made_up(const std::string& name, at::IntArrayRef shape) {
  const at::Tensor empty = at::empty(shape);
  const at::Tensor values = noise(empty.numel(), static_cast<double>(name.size())).view(shape);
  if (ends_with(name, "running_var")) return 1 + 0.3 * values;
  if (ends_with(name, "gamma") || (shape.size() == 1 && ends_with(name, "weight"))) return 1 + 0.2 * values;
  if (shape.size() == 1) return 0.1 * values;
  const double fan_in = shape.size() == 3 ? 4 : static_cast<double>(empty.numel()) / static_cast<double>(shape.front());
  return values * std::sqrt(3 / fan_in);
}

/// Same as `images` there, float32 [2, 3, size, size].
inline at::Tensor images(int64_t size) {
  return (0.5 + 0.5 * noise(2 * 3 * size * size, 0)).to(at::kFloat).view({2, 3, size, size});
}

}  // namespace protocom::testing
