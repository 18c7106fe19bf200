#include "protocom/fewshot/plda/class_prior.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr double kSmallestLength = 1e-12;

at::Tensor unit_descriptions(const at::Tensor& x) { return x / x.norm(2, -1, true).clamp_min(kSmallestLength); }

/// A class without an embedding has a row of zeros, which stays one: it is no class at the far side of the center.
at::Tensor centred_unit_rows(const at::Tensor& embedding, const at::Tensor& center) {
  const at::Tensor known = embedding.ne(0).any(-1, true).to(at::kDouble);
  return unit_descriptions((embedding - center) * known);
}

at::Tensor finite(const at::Tensor& values, const char* what) {
  const at::Tensor wide = values.to(at::kDouble);
  if (!wide.isfinite().all().item<bool>()) fail("the classes' {} hold a value that is not finite", what);
  return wide;
}

void check_width(const at::Tensor& rows, const at::Tensor& base, const char* what) {
  if (!rows.defined() || rows.size(-1) != base.size(1)) {
    fail("descriptions have {} {}, the base classes that the prior was fitted on have {}; use the same knowledge",
         rows.defined() ? rows.size(-1) : 0, what, base.size(1));
  }
}

at::Tensor solve_ridge(const at::Tensor& likeness, double ridge, const at::Tensor& right) {
  return at::linalg_solve(likeness + ridge * at::eye(likeness.size(0), at::kDouble), right);
}

}  // namespace

DescriptionKernel::DescriptionKernel(const ClassDescriptions& base, const KernelRidgeOptions& options) {
  attribute_weight_ = base.association.defined() ? options.attribute_weight : 0;
  word_weight_ = base.embedding.defined() ? options.word_weight : 0;
  if (!(attribute_weight_ >= 0 && word_weight_ >= 0 && attribute_weight_ + word_weight_ > 0)) {
    fail_usage("attributes weigh {} and words {}, expected two numbers that are not negative and not both 0",
               attribute_weight_, word_weight_);
  }
  if (attribute_weight_ > 0) {
    const at::Tensor association = finite(base.association, "attributes");
    const auto classes = static_cast<double>(association.size(0));
    // An attribute of every base class weighs log 1 = 0: it tells none of them apart.
    base_.idf = ((1 + classes) / (1 + association.gt(0).to(at::kDouble).sum(0))).log();
    base_.attributes = unit_descriptions(association * base_.idf);
  }
  if (word_weight_ > 0) {
    const at::Tensor embedding = finite(base.embedding, "embeddings");
    const at::Tensor known = embedding.ne(0).any(-1).to(at::kDouble).sum().clamp_min(1);
    base_.embedding_center = embedding.sum(0) / known;
    base_.embeddings = centred_unit_rows(embedding, base_.embedding_center);
  }
}

DescriptionKernel::DescriptionKernel(Base base, const KernelRidgeOptions& options)
    : base_(std::move(base)),
      attribute_weight_(base_.attributes.defined() ? options.attribute_weight : 0),
      word_weight_(base_.embeddings.defined() ? options.word_weight : 0) {}

at::Tensor DescriptionKernel::likeness(const ClassDescriptions& descriptions) const {
  at::Tensor sum;
  if (attribute_weight_ > 0) {
    check_width(descriptions.association, base_.attributes, "attributes");
    const at::Tensor rows = unit_descriptions(finite(descriptions.association, "attributes") * base_.idf);
    sum = attribute_weight_ * at::matmul(rows, base_.attributes.t());
  }
  if (word_weight_ > 0) {
    check_width(descriptions.embedding, base_.embeddings, "embedding dimensions");
    const at::Tensor rows = centred_unit_rows(finite(descriptions.embedding, "embeddings"), base_.embedding_center);
    const at::Tensor words = word_weight_ * at::matmul(rows, base_.embeddings.t());
    sum = sum.defined() ? sum + words : words;
  }
  return sum / (attribute_weight_ + word_weight_);
}

at::Tensor KernelRidge::predict(const ClassDescriptions& descriptions) const {
  return at::matmul(kernel.likeness(descriptions), dual);
}

KernelRidge fit_kernel_ridge(const ClassDescriptions& base, const at::Tensor& means,
                             const KernelRidgeOptions& options) {
  if (!(options.ridge > 0)) fail_usage("a ridge of {} was asked for, expected a number above 0", options.ridge);
  DescriptionKernel kernel(base, options);
  at::Tensor dual = solve_ridge(kernel.likeness(base), options.ridge, means.to(at::kDouble));
  return {std::move(kernel), std::move(dual)};
}

at::Tensor leave_one_out(const ClassDescriptions& base, const at::Tensor& means, const KernelRidgeOptions& options) {
  const at::Tensor likeness = DescriptionKernel(base, options).likeness(base);
  const at::Tensor hat = solve_ridge(likeness, options.ridge, likeness);  // symmetric matrices that commute
  const at::Tensor own = hat.diagonal().unsqueeze(1);
  const at::Tensor target = means.to(at::kDouble);
  return (at::matmul(hat, target) - own * target) / (1 - own);
}

std::vector<KernelRidgeTrial> try_kernel_ridges(const ClassDescriptions& base, const at::Tensor& means) {
  std::vector<KernelRidgeOptions> grid;
  const bool both = base.association.defined() && base.embedding.defined();
  for (const double words : both ? std::vector<double>{0, 0.25, 0.5, 1, 2} : std::vector<double>{1}) {
    for (const double ridge : {0.1, 0.3, 1.0, 3.0, 10.0}) {
      KernelRidgeOptions options;
      options.word_weight = words;
      options.ridge = ridge;
      grid.push_back(options);
    }
  }
  std::vector<KernelRidgeTrial> trials;
  const double all = means.square().sum().item<double>();
  for (const KernelRidgeOptions& options : grid) {
    const at::Tensor miss = means - leave_one_out(base, means, options);
    trials.push_back({options, miss.square().sum().item<double>() / all});
  }
  std::stable_sort(trials.begin(), trials.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
  return trials;
}

}  // namespace protocom
