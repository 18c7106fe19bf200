#pragma once
#include "heads/detail/two_layers.h"

namespace protocom {

/// The network M of RestoreNet: Linear(d -> d/2), ReLU, Linear(d/2 -> d).
struct Restorer {
  TwoLayers network;

  void fields(StateFields& fields);
  /// Returns (1 - share) p + share M(p) of prototypes [..., d]. Throws Error for prototypes of another dimension.
  [[nodiscard]] at::Tensor restored(const at::Tensor& prototypes, double share) const;
};

}  // namespace protocom
