#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// Feature maps as what is learned on them takes them: x at every place becomes (x - m) / s, where m [c] is the mean of
/// the base images' places and s the root mean square that is left. It is kept with the method.
class MapSpace {
 public:
  /// Throws Error for maps that are all alike or hold values that are not finite.
  explicit MapSpace(const FitMaps& maps);
  /// From what add_to() wrote. Throws Error for tensors that are missing or misshaped.
  explicit MapSpace(const MethodState& state);

  [[nodiscard]] int64_t channels() const { return centre_.size(0); }
  [[nodiscard]] int64_t places() const { return height_ * width_; }
  /// Throws Error that says what was expected and found unless the context's maps have the shape it was fitted on.
  void check(const MethodContext& context) const;
  /// Rows [..., c h w] to [n, c, h, w], all images one after the other. Throws Error for values that are not finite.
  [[nodiscard]] at::Tensor maps_of(const at::Tensor& rows) const;
  /// Rows [..., c h w] to [n, h w, c].
  [[nodiscard]] at::Tensor places_of(const at::Tensor& rows) const;
  void add_to(MethodState& state) const;

 private:
  int64_t height_ = 0;
  int64_t width_ = 0;
  at::Tensor centre_;  // [c]
  at::Tensor scale_;   // []
};

}  // namespace protocom
