#pragma once
#include <cstdint>

/// Inner loops on numbers of points and classes that lie class by class, [n, stride]: a row a class, a column a point,
/// `stride` a multiple of kRowMultiple (row_kernels.h). What one point gets depends on no other. All are thread-safe.
namespace protocom {

/// Each point's logits become e^(logit - the largest of the point's), in place.
void exponentials_of_classes(float* logits, int64_t n, int64_t stride);

/// Each point's values v_k become factors_k v_k / (sum of those over the classes), in place; `factors` may be null:
/// all 1. After exponentials_of_classes() this is softmax(logits + log(factors)).
void shares_of_classes(const float* factors, float* values, int64_t n, int64_t stride);

}  // namespace protocom
