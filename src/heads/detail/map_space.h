#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// Feature maps normalized for learning: x at every place becomes (x - m) / s, where m [c] is the mean over the base
/// images' places and s the root mean square of the rest. It is stored with the method.
class MapSpace {
 public:
  /// Throws Error for maps that are all alike or hold non-finite values.
  explicit MapSpace(const FitMaps& maps);
  /// Restores the space from what add_to() wrote. Throws Error for tensors that are missing or misshaped.
  explicit MapSpace(const MethodState& state);

  [[nodiscard]] int64_t channels() const { return centre_.size(0); }
  [[nodiscard]] int64_t places() const { return height_ * width_; }
  /// Throws Error that names what was expected and found unless the context's maps have the shape it was fitted on.
  void check(const MethodContext& context) const;
  /// Maps rows [..., c h w] to [n, c, h, w], all images one after the other. Throws Error for non-finite values.
  [[nodiscard]] at::Tensor maps_of(const at::Tensor& rows) const;
  /// Maps rows [..., c h w] to [n, h w, c].
  [[nodiscard]] at::Tensor places_of(const at::Tensor& rows) const;
  void add_to(MethodState& state) const;

 private:
  int64_t height_ = 0;
  int64_t width_ = 0;
  at::Tensor centre_;  // [c]
  at::Tensor scale_;   // []
};

}  // namespace protocom
