#include "fewshot/toolbox/detail/sinkhorn.h"

#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

/// Stops when no row sum changes by more than this per step: PT-MAP's rule. Classes so far apart that nearly every
/// entry between them is 0 meet it before the columns have their sums.
constexpr float kTolerance = 1e-6F;
constexpr int64_t kMostTransportSteps = 1000;

}  // namespace

Floats sinkhorn_scales(const Floats& kernel, int64_t stride, const Floats& columns) {
  Floats scales(columns.size()), work(static_cast<size_t>(2 * stride));
  transport_scales({kernel.data(), static_cast<int64_t>(columns.size()), stride, columns.data(), kTolerance,
                    kMostTransportSteps, work.data()},
                   scales.data());
  return scales;
}

Floats balanced_columns(int64_t u, int64_t n) {
  return Floats(static_cast<size_t>(n), static_cast<float>(static_cast<double>(u) / static_cast<double>(n)));
}

}  // namespace protocom
