#include "eval/class_centres.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "protocom/nn/unit_vectors.h"

namespace protocom {

ClassCentres::ClassCentres(const FeatureSet& features, const std::vector<int64_t>& classes)
    : unit_(at::zeros({static_cast<int64_t>(features.class_names.size()), features.dim()})) {
  const auto rows = features.rows_by_class();
  for (const int64_t label : classes) {
    const auto& own = rows[static_cast<size_t>(label)];
    if (own.empty()) continue;
    const at::Tensor images = features.features.index_select(0, at::tensor(own, at::kLong));
    unit_[label] = unit_vectors(images.mean(0, /*keepdim=*/false, at::kDouble)).to(at::kFloat);
  }
}

void ClassCentres::cosines(const at::Tensor& prototypes, const std::vector<int64_t>& classes, double* cosine) const {
  const at::Tensor centres = unit_.index_select(0, at::tensor(classes, at::kLong)).view(prototypes.sizes());
  const at::Tensor norms = prototypes.norm(2, -1).clamp_min(1e-12);                                // [b, n]
  const at::Tensor means = ((prototypes * centres).sum(-1) / norms).mean(-1, false, at::kDouble);  // [b]
  std::copy_n(means.contiguous().data_ptr<double>(), means.numel(), cosine);
}

}  // namespace protocom
