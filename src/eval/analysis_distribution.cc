#include "eval/analysis_distribution.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "eval/statistics.h"
#include "fewshot/toolbox/moments.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

SplitVariance variance_of(const FeatureSet& features, const std::vector<std::vector<int64_t>>& rows,
                          const Moments& moments, Split split) {
  SplitVariance result;
  result.split = to_string(split);
  const std::vector<int64_t> classes = features.classes_of(split);
  result.classes = static_cast<int64_t>(classes.size());
  if (classes.empty()) return result;
  const at::Tensor index = at::tensor(classes, at::kLong);
  const at::Tensor centres = moments.mean().index_select(0, index);
  const at::Tensor variance = moments.variance().index_select(0, index).mean(1).contiguous();  // float64 [c]
  const Estimate within = estimate({variance.data_ptr<double>(), variance.data_ptr<double>() + variance.numel()});
  result.within = within.value;
  result.within_ci95 = within.ci95;
  result.between = classes.size() > 1 ? centres.var(0, true).mean().item<double>() : 0.0;
  std::vector<double> cosines;
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto& own = rows[static_cast<size_t>(classes[i])];
    result.images += static_cast<int64_t>(own.size());
    const at::Tensor images = tensor_of(features.features.gathered(own)).to(at::kDouble);
    const at::Tensor centre = centres[static_cast<int64_t>(i)].unsqueeze(0);
    cosines.push_back(at::cosine_similarity(images, centre, 1).mean().item<double>());
  }
  const Estimate cosine = estimate(cosines);
  result.cosine = cosine.value;
  result.cosine_ci95 = cosine.ci95;
  return result;
}

// The sign of a component is arbitrary; a fixed one makes maps repeatable between LAPACK versions.
void fix_signs(at::Tensor& components) {
  for (int64_t i = 0; i < components.size(1); ++i) {
    const at::Tensor column = components.select(1, i);
    if (column[column.abs().argmax()].item<double>() < 0.0) column.neg_();
  }
}

std::vector<int64_t> sample_rows(const FeatureSet& features, const DistributionOptions& options) {
  const auto by_class = features.rows_by_class();
  Rng rng(options.seed);
  std::vector<int64_t> rows;
  for (const Split split : {Split::kBase, Split::kNovel}) {
    std::vector<int64_t> classes = features.classes_of(split);
    const auto available = static_cast<int64_t>(classes.size());
    std::vector<int64_t> picks = rng.sample(available, std::min(available, options.classes));
    std::sort(picks.begin(), picks.end());
    for (const int64_t pick : picks) {
      const auto& own = by_class[static_cast<size_t>(classes[static_cast<size_t>(pick)])];
      const auto images = static_cast<int64_t>(own.size());
      for (const int64_t i : rng.sample(images, std::min(images, options.images_per_class)))
        rows.push_back(own[static_cast<size_t>(i)]);
    }
  }
  return rows;
}

}  // namespace

std::vector<SplitVariance> split_variances(const FeatureSet& features) {
  const at::NoGradGuard no_grad;
  const auto rows = features.rows_by_class();
  const Moments moments = class_moments(tensor_of(features.features), at::tensor(features.labels, at::kLong),
                                        static_cast<int64_t>(rows.size()));
  std::vector<SplitVariance> result;
  for (const Split split : kAllSplits) {
    result.push_back(variance_of(features, rows, moments, split));
    if (result.back().classes == 0) result.pop_back();
  }
  return result;
}

PrincipalComponents principal_components(const at::Tensor& rows, int64_t count) {
  const at::NoGradGuard no_grad;
  if (rows.dim() != 2) fail("principal components of rows [n, d], found the shape [{}]", fmt::join(rows.sizes(), ", "));
  if (count < 1 || count > std::min(rows.size(0), rows.size(1)))
    fail_usage("{} rows of {} dimensions do not have {} principal components", rows.size(0), rows.size(1), count);
  const at::Tensor plain = rows.to(at::kDouble);
  const at::Tensor centred = plain - plain.mean(0);
  const auto [values, vectors] = at::linalg_eigh(at::mm(centred.t(), centred));  // ascending
  at::Tensor components = vectors.narrow(1, vectors.size(1) - count, count).flip(1).contiguous();
  fix_signs(components);
  PrincipalComponents result{at::mm(centred, components), {}};
  const double total = std::max(values.clamp_min(0).sum().item<double>(), 1e-300);
  for (int64_t i = 0; i < count; ++i)
    result.share.push_back(std::max(values[values.size(0) - 1 - i].item<double>(), 0.0) / total);
  return result;
}

DistributionAnalysis analyse_distribution(const FeatureSet& features, const DistributionOptions& options) {
  if (options.classes < 1 || options.images_per_class < 2)
    fail_usage("a map needs at least 1 class per split and 2 images per class, found {} and {}", options.classes,
               options.images_per_class);
  DistributionAnalysis result;
  result.variances = split_variances(features);
  const std::vector<int64_t> rows = sample_rows(features, options);
  const at::Tensor sample = tensor_of(features.features.gathered(rows));
  const PrincipalComponents pca = principal_components(sample, 2);
  const at::Tensor map = tsne(sample, options.tsne);
  result.pca_share = pca.share;
  const auto linear = pca.points.accessor<double, 2>();
  const auto neighbours = map.accessor<double, 2>();
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto label = static_cast<size_t>(features.labels[static_cast<size_t>(rows[i])]);
    result.points.push_back({features.class_names[label], std::string(to_string(features.class_split[label])),
                             linear[at][0], linear[at][1], neighbours[at][0], neighbours[at][1],
                             features.image_ids[static_cast<size_t>(rows[i])]});
  }
  return result;
}

}  // namespace protocom
