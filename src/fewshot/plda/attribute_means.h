#pragma once
#include <ATen/core/Tensor.h>

#include "protocom/fewshot/plda/knowledge_prior.h"

namespace protocom {

/// What base classes show of attributes in the leading dimensions of a space: equations 2 and 3 over classes, every
/// class the same, with the variance 1 that images have within a class there.
struct AttributeMeans {
  at::Tensor has;       ///< bool [c, a]: R > 0
  at::Tensor count;     ///< float64 [a], classes with the attribute
  at::Tensor mean;      ///< float64 [a, l], of their means; 0 where there is none
  at::Tensor variance;  ///< float64 [a, l], of images: 1 + that of their means

  explicit AttributeMeans(const PriorExamples& examples);
  /// The attributes' means as the class `means` [c, l] without one class show them, [a, l]; 0 where it alone has the
  /// attribute.
  [[nodiscard]] at::Tensor without(const at::Tensor& class_mean, int64_t place) const;
};

}  // namespace protocom
