#pragma once
#include <ATen/core/Tensor.h>

namespace protocom {

/// What the labelled images of each class contribute to prototypes and distributions. Additive, so it also serves
/// classes of unequal shots and stores that keep no single feature. Leading dimensions (episodes) are shared by all
/// three.
struct SupportStatistics {
  at::Tensor count;        ///< float32 [..., n]
  at::Tensor sum;          ///< float32 [..., n, d]
  at::Tensor sum_squares;  ///< float32 [..., n, d]
};

/// Statistics of supports [..., n, k, d], k shots for each of n classes.
SupportStatistics support_statistics(const at::Tensor& support);

/// Mean prototypes p_k (equation 6), float32 [..., n, d].
at::Tensor mean_prototypes(const SupportStatistics& support);

}  // namespace protocom
