#include "fewshot/plda/adaptation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "protocom/core/error.h"

namespace protocom {
namespace {

/// Of the largest eigenvalue: smaller ones are rounding.
constexpr double kRankTolerance = 1e-10;
/// The between-class variance of a space that was not fitted, of the within-class one: few classes may show less.
constexpr double kLeastBetween = 0.05;
/// The same where no class has two images, so that nothing tells the two apart. CLIP and ResNet features of birds and
/// objects lie between .4 and 1.4.
constexpr double kUnknownBetween = 1;

at::Tensor class_counts(const at::Tensor& labels, int64_t classes) {
  return at::bincount(labels, {}, classes).to(at::kDouble);
}

/// [classes, e]
at::Tensor class_means(const at::Tensor& x, const at::Tensor& labels, const at::Tensor& count) {
  return at::zeros({count.size(0), x.size(1)}, at::kDouble).index_add_(0, labels, x) / count.unsqueeze(1);
}

/// The share of the way from the fitted center to that of the classes at hand.
double center_share(const PldaAdaptation& adaptation, int64_t classes) {
  const auto n = static_cast<double>(classes);
  return n / (n + adaptation.center_classes);
}

/// S0 and the between-class covariance of z as multiples of I.
struct Isotropic {
  double within = 1;
  double between = 1;  ///< in units of `within`
};

Isotropic isotropic_variances(const at::Tensor& z, const at::Tensor& labels, const at::Tensor& count,
                              const WithinScatter& scatter) {
  const auto dims = static_cast<double>(z.size(1));
  const auto classes = static_cast<double>(count.size(0));
  const at::Tensor means = class_means(z, labels, count);
  const double spread = classes > 1 ? means.var(0).sum().item<double>() / dims : 1 / dims;
  const double within = scatter.eigenvalues.sum().item<double>() / dims / std::max(scatter.degrees, 1.0);
  if (!(within > 0)) return {std::max(spread, 1e-12) / (1 + kUnknownBetween), kUnknownBetween};
  const double error = count.reciprocal().mean().item<double>();
  return {within, std::max(spread / within - error, kLeastBetween)};
}

/// Images of a model without a space: in which S has its eigenvectors as axes.
PldaSpace isotropic_space(const at::Tensor& features, const at::Tensor& labels, const at::Tensor& count,
                          const PldaAdaptation& adaptation) {
  const int64_t d = features.size(1);
  const int64_t classes = count.size(0);
  PldaSpace space;
  space.center = center_share(adaptation, classes) * class_means(features, labels, count).mean(0);
  const at::Tensor z = space.directions(features);
  WithinScatter scatter = within_scatter(z, labels, classes);
  const Isotropic found = isotropic_variances(z, labels, count, scatter);
  const int64_t rank = scatter.eigenvalues.size(0);
  const double total = adaptation.degrees + scatter.degrees;
  const at::Tensor within =
      at::cat({adaptation.degrees + scatter.eigenvalues / found.within, at::full({d - rank}, adaptation.degrees)}) /
      total;
  const at::Tensor axes = rank == 0 ? at::eye(d, at::kDouble) : std::get<0>(at::linalg_qr(scatter.directions, "complete"));
  space.projection = axes / (found.within * within).sqrt();
  space.offset = at::zeros({d}, at::kDouble);  // a shift would tell class means of one length apart by their lengths
  space.between = found.between / within;
  space.leading = std::max<int64_t>(rank, 1);
  return space;
}

/// A fitted space after labelled images.
PldaSpace fitted_space(const PldaSpace& fitted, const at::Tensor& features, const at::Tensor& labels,
                       const at::Tensor& count, const PldaAdaptation& adaptation) {
  const int64_t classes = count.size(0);
  const double share = center_share(adaptation, classes);
  PldaSpace space = fitted;
  space.center = fitted.center + share * (class_means(features, labels, count).mean(0) - fitted.center);
  at::Tensor f = space.transform(features);
  space.offset = fitted.offset + share * class_means(f, labels, count).mean(0);
  WithinScatter scatter = within_scatter(f, labels, classes);
  if (scatter.degrees == 0) return space;
  const auto dims = static_cast<double>(f.size(1));
  const double scale = (adaptation.scale_degrees + scatter.eigenvalues.sum().item<double>() / dims) /
                       (adaptation.scale_degrees + scatter.degrees);
  scatter.eigenvalues = scatter.eigenvalues / scale;
  const WithinWhitening whitening = whitening_of(scatter, adaptation.degrees);
  const double unit = 1 / std::sqrt(scale);
  space.projection = unit * whitening.apply(fitted.projection);
  space.offset = unit * whitening.apply(space.offset.unsqueeze(0)).squeeze(0);
  space.between = whitening.apply_to_variance(fitted.between / scale);
  return space;
}

void check_images(const PldaModel& model, const at::Tensor& features) {
  if (features.dim() != 2 || (!model.adaptation.isotropic && features.size(1) != model.space.center.size(0)))
    fail("features of the shape [{}], expected [any, {}]", fmt::join(features.sizes(), ", "),
         model.adaptation.isotropic ? -1 : model.space.center.size(0));
  if (!features.isfinite().all().item<bool>()) fail("a feature is not finite, expected numbers");
}

/// The images without those that are there already in the same class, sorted: a copy says nothing of how images differ.
std::pair<at::Tensor, at::Tensor> without_copies(const at::Tensor& features, const at::Tensor& labels) {
  const at::Tensor rows = at::cat({labels.to(at::kDouble).unsqueeze(1), features}, 1);
  const at::Tensor unique = std::get<0>(at::unique_dim(rows, 0));
  return {unique.narrow(1, 1, features.size(1)).contiguous(), unique.select(1, 0).to(at::kLong)};
}

}  // namespace

WithinScatter within_scatter(const at::Tensor& x, const at::Tensor& labels, int64_t classes) {
  const at::Tensor means = class_means(x, labels, class_counts(labels, classes));
  const at::Tensor a = x - means.index_select(0, labels);  // [m, e]
  WithinScatter scatter;
  scatter.degrees = static_cast<double>(x.size(0) - classes);
  const bool by_images = a.size(0) <= a.size(1);
  const auto [values, vectors] = at::linalg_eigh(by_images ? at::mm(a, a.t()) : at::mm(a.t(), a));
  const at::Tensor kept = values.gt(values.max() * kRankTolerance).logical_and(values.gt(0)).nonzero().flatten();
  scatter.eigenvalues = values.index_select(0, kept);
  scatter.directions = vectors.index_select(1, kept);
  if (by_images) scatter.directions = at::mm(a.t(), scatter.directions) / scatter.eigenvalues.sqrt();
  return scatter;
}

at::Tensor WithinWhitening::apply(const at::Tensor& x) const {
  return base * x + at::mm(at::mm(x, directions) * gain, directions.t());
}

at::Tensor WithinWhitening::apply_to_variance(const at::Tensor& variance) const {
  const at::Tensor scaled = directions * gain;                                             // [e, r]
  const at::Tensor inner = at::mm(directions.t(), variance.unsqueeze(1) * directions);     // [r, r]
  return base * base * variance + 2 * base * variance * (directions * scaled).sum(1) + (at::mm(scaled, inner) * scaled).sum(1);
}

WithinWhitening whitening_of(const WithinScatter& scatter, double nu) {
  const double total = nu + scatter.degrees;
  WithinWhitening whitening;
  whitening.base = std::sqrt(total / nu);
  whitening.directions = scatter.directions;
  whitening.gain = (total / (nu + scatter.eigenvalues)).sqrt() - whitening.base;
  return whitening;
}

PldaModel adapted(const PldaModel& model, const at::Tensor& features, const at::Tensor& labels, int64_t classes) {
  check_images(model, features);
  const auto [x, own] = without_copies(features.to(at::kDouble), labels);
  const at::Tensor count = class_counts(own, classes);
  PldaModel result = model;
  result.space = model.adaptation.isotropic ? isotropic_space(x, own, count, model.adaptation)
                                            : fitted_space(model.space, x, own, count, model.adaptation);
  result.residual = result.space.between;
  result.knowledge = nullptr;
  result.adaptation = {};
  return result;
}

}  // namespace protocom
