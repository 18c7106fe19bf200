#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "protocom/serve/recognizer.h"

namespace protocom {

/// Classes of a row whose examples are looked at: not all of a recognizer's for one image.
inline constexpr int64_t kClassesToLookAt = 20;

/// For each row of `features` [n, d] the `most` examples that are most like it, nearest first, among those of the
/// first kClassesToLookAt of its `best` classes. Empty where their features were not kept.
std::vector<std::vector<NearExample>> nearest_examples(const RecognizerSnapshot& snapshot,
                                                       const std::vector<std::vector<int64_t>>& best,
                                                       const at::Tensor& features, int64_t most);

}  // namespace protocom
