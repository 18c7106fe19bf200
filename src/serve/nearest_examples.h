#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "protocom/serve/recognizer.h"

namespace protocom {

/// For each row of `features` [n, d] the `most` examples that are most like it, nearest first, among those of the 100
/// classes with the highest `logits` [n, c]: all of a recognizer's examples are not looked at for one image. Empty
/// where features were not kept.
std::vector<std::vector<NearExample>> nearest_examples(const RecognizerSnapshot& snapshot, const at::Tensor& logits,
                                                       const at::Tensor& features, int64_t most);

}  // namespace protocom
