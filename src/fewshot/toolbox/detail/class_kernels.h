#pragma once
#include <cstdint>

/// Inner loops on numbers of points and classes stored class by class, [n, stride]: one row per class, one column per
/// point, `stride` a multiple of kRowMultiple (row_kernels.h). Each point's result is independent of the others. All
/// are thread-safe.
namespace protocom {

/// Replaces each point's logits by e^(logit - the point's largest), in place.
void exponentials_of_classes(float* logits, int64_t n, int64_t stride);

/// Replaces each point's values v_k by factors_k v_k / (sum over the classes), in place; null `factors`: all 1. After
/// exponentials_of_classes() this is softmax(logits + log(factors)).
void shares_of_classes(const float* factors, float* values, int64_t n, int64_t stride);

}  // namespace protocom
