#include "fewshot/plda/space.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "fewshot/toolbox/detail/complete_basis.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

constexpr double kSmallestNorm = 1e-12;

void check_labelled(const at::Tensor& features, const at::Tensor& labels, const at::Tensor& center) {
  if (features.dim() != 2 || labels.dim() != 1 || features.size(0) != labels.size(0) || features.size(0) == 0) {
    fail("expected features [m, d] with labels [m] of at least one image, found [{}] and [{}]",
         fmt::join(features.sizes(), ", "), fmt::join(labels.sizes(), ", "));
  }
  if (center.dim() != 1 || center.size(0) != features.size(1)) {
    fail("the center has the shape [{}], expected [{}], one number a feature", fmt::join(center.sizes(), ", "),
         features.size(1));
  }
}

/// Rows go through float64 in pieces, so that 32,000 x 512 does not stand in memory three times.
constexpr int64_t kRows = 4096;

}  // namespace

UnitMoments unit_moments(const at::Tensor& features, const at::Tensor& labels, const at::Tensor& center) {
  check_labelled(features, labels, center);
  const auto [classes, row, count] = at::_unique2(labels.to(at::kLong), true, true, true);
  const int64_t d = features.size(1);
  const at::Tensor middle = center.to(at::kDouble);
  at::Tensor sum = at::zeros({classes.size(0), d}, at::kDouble);
  at::Tensor square = at::zeros({d, d}, at::kDouble);
  for (int64_t at = 0; at < features.size(0); at += kRows) {
    const int64_t rows = std::min(kRows, features.size(0) - at);
    const at::Tensor z = unit_vectors(features.narrow(0, at, rows).to(at::kDouble) - middle);
    sum.index_add_(0, row.narrow(0, at, rows), z);
    // Sums of so many products of single precision are good to 1e-6, like the features they are made of.
    const at::Tensor factor = z.to(features.scalar_type());
    square += at::matmul(factor.t(), factor);
  }
  const at::Tensor n = count.to(at::kDouble);
  const at::Tensor mean = sum / n.unsqueeze(1);
  if (!square.isfinite().all().item<bool>()) {
    fail("a feature is not finite, expected numbers; check the program that made the features");
  }
  // sum (z - m)(z - m)' = sum z z' - sum_c n_c m_c m_c': one pass over the images, before any mean is known.
  return {middle, classes, n, mean, square - at::matmul(sum.t(), mean)};
}

UnitMoments join(const UnitMoments& a, const UnitMoments& b) {
  return {a.center, at::cat({a.classes, b.classes}), at::cat({a.count, b.count}), at::cat({a.mean, b.mean}),
          a.scatter + b.scatter};
}

bool root_of(const at::Tensor& features) { return features.numel() > 0 && features.min().item<double>() >= 0; }

at::Tensor PldaSpace::rooted(const at::Tensor& features) const {
  return root ? features.sign() * features.abs().sqrt() : features;
}

at::Tensor PldaSpace::directions(const at::Tensor& features) const {
  return unit_vectors(rooted(features) - center.to(features.scalar_type()));
}

at::Tensor PldaSpace::transform(const at::Tensor& features) const {
  const auto type = features.scalar_type();
  return at::matmul(directions(features), projection.to(type)) - offset.to(type);
}

at::Tensor PldaSpace::transform_means(const at::Tensor& means) const {
  return at::matmul(means.to(at::kDouble), projection) - offset;
}

PldaSpaceFitter::PldaSpaceFitter(UnitMoments moments) : moments_(std::move(moments)) {
  const int64_t classes = moments_.classes.size(0);
  if (classes < 2) fail("a space of classes needs at least 2 base classes, found {}", classes);
  const double degrees = moments_.count.sum().item<double>() - static_cast<double>(classes);
  const double trace = moments_.scatter.trace().item<double>();
  if (degrees < 1 || !(trace > kSmallestNorm)) {
    fail(
        "no base class has two different images, so nothing can be said of how images of a class differ; give at "
        "least one class two images");
  }
  // Once for every shrinkage: a multiple of I added to a covariance leaves its eigenvectors as they are.
  std::tie(eigenvalues_, eigenvectors_) = at::linalg_eigh(moments_.scatter / degrees);
  eigenvalues_ = eigenvalues_.clamp_min(0);
}

PldaSpace PldaSpaceFitter::space(double shrinkage) const {
  if (!(shrinkage > 0 && shrinkage <= 1)) fail_usage("a shrinkage of {} was asked for, expected (0, 1]", shrinkage);
  const int64_t classes = moments_.classes.size(0);
  const int64_t d = eigenvalues_.size(0);
  const at::Tensor within = (1 - shrinkage) * eigenvalues_ + shrinkage * eigenvalues_.mean();
  const at::Tensor whitening = eigenvectors_ / within.sqrt();
  const at::Tensor grand = moments_.mean.mean(0);
  const at::Tensor deviation = at::matmul(moments_.mean - grand, whitening);  // [c, d]
  PldaSpace space;
  space.center = moments_.center;
  space.leading = std::min(classes - 1, d);
  // The rotation to the eigenvectors of the covariance of class means, which c rows give without a d x d matrix.
  const auto [left, spread, right] = at::linalg_svd(deviation, false);
  const at::Tensor leading = right.narrow(0, 0, space.leading).t();
  // No two means differ in the other directions, but images do: any orthonormal basis of them is as good.
  const at::Tensor basis = at::cat({leading, complete_basis(leading).narrow(1, space.leading, d - space.leading)}, 1);
  space.projection = at::matmul(whitening, basis);
  space.offset = at::matmul(grand, space.projection);
  // A mean of n images misses its class by a variance of 1 / n in whitened dimensions, which is no difference of
  // classes.
  const double error = moments_.count.reciprocal().mean().item<double>();
  space.between = at::zeros({d}, at::kDouble);
  space.between.narrow(0, 0, space.leading)
      .copy_((spread.narrow(0, 0, space.leading).square() / static_cast<double>(classes - 1) - error).clamp_min(0));
  return space;
}

}  // namespace protocom
