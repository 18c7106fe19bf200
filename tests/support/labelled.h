#pragma once
#include <ATen/core/Tensor.h>

#include "fewshot/method.h"
#include "tensors/tensors.h"

namespace protocom::testing {

/// Returns features [m, d] with labels int64 [m].
inline LabelledFeatures labelled(const at::Tensor& features, const at::Tensor& labels) {
  return {array_of(features.contiguous()), numbers_of(labels)};
}

}  // namespace protocom::testing
