#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// A Scorer that also says where it compares single images. Thread-safe.
class ImagePoints {
 public:
  ImagePoints() = default;
  virtual ~ImagePoints() = default;
  ImagePoints(const ImagePoints&) = delete;
  ImagePoints& operator=(const ImagePoints&) = delete;

  /// Features float32 [n, d], not through a FeatureTransform, as points [n, e]: the larger the cosine of two, the
  /// likelier the images are of one class.
  [[nodiscard]] virtual at::Tensor points(const at::Tensor& features) const = 0;
};

}  // namespace protocom
