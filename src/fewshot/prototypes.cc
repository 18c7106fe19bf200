#include "protocom/fewshot/prototypes.h"

#include <ATen/ATen.h>

namespace protocom {

SupportStatistics support_statistics(const at::Tensor& support) {
  const int64_t shots = support.size(-2);
  auto groups = support.sizes().vec();
  groups.resize(groups.size() - 2);
  return {at::full(groups, static_cast<double>(shots), support.options()), support.sum(-2),
          (support * support).sum(-2)};
}

at::Tensor mean_prototypes(const SupportStatistics& support) { return support.sum / support.count.unsqueeze(-1); }

}  // namespace protocom
