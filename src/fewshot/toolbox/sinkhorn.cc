#include "fewshot/toolbox/detail/sinkhorn.h"

#include "fewshot/row_kernels.h"

namespace protocom {

Floats sinkhorn_scales(const Floats& kernel, int64_t stride, const Floats& columns, const SinkhornOptions& options) {
  Floats scales(columns.size()), work(static_cast<size_t>(2 * stride));
  transport_scales({kernel.data(), static_cast<int64_t>(columns.size()), stride, columns.data(),
                    static_cast<float>(options.tolerance), options.most_steps, work.data()},
                   scales.data());
  return scales;
}

Floats balanced_columns(int64_t u, int64_t n) {
  return Floats(static_cast<size_t>(n), static_cast<float>(static_cast<double>(u) / static_cast<double>(n)));
}

}  // namespace protocom
