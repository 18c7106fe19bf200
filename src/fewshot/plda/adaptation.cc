#include "fewshot/plda/detail/adaptation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fewshot/plda/detail/added_between.h"
#include "fewshot/plda/detail/isotropic.h"
#include "fewshot/plda/detail/left_out.h"
#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/toolbox/detail/complete_basis.h"

namespace protocom {
namespace {

/// Of the largest eigenvalue: smaller ones are rounding.
constexpr double kRankTolerance = 1e-10;
/// Variational EM counts images of the batch as images of a class, and is as sure of its answers as if they had been
/// labelled: its log densities are worth kBatchTrust K / (K + kBatchDoubt) of those of single photos, K labelled images
/// per class. Found with 10 queries per class on val classes of CUB-100 and of Tiny-ImageNet-100 (docs/log/plda.md).
constexpr double kBatchTrust = 0.6, kBatchDoubt = 0.8;

at::Tensor class_counts(const at::Tensor& labels, int64_t classes) {
  return at::bincount(labels, {}, classes).to(at::kDouble);
}

/// [classes, e]
at::Tensor class_means(const at::Tensor& x, const at::Tensor& labels, const at::Tensor& count) {
  return at::zeros({count.size(0), x.size(1)}, at::kDouble).index_add_(0, labels, x) / count.unsqueeze(1);
}

/// Of z in a space of `dims` dimensions, by coordinates [m, e] in any subspace that has its differences; `deviations`
/// from its class means, [m, e].
IsotropicSums isotropic_sums(const at::Tensor& z, const at::Tensor& labels, const at::Tensor& count,
                             const at::Tensor& deviations, double dims) {
  const at::Tensor means = class_means(z, labels, count);
  IsotropicSums sums;
  sums.dims = dims;
  sums.images = static_cast<double>(z.size(0));
  sums.classes = static_cast<double>(count.size(0));
  sums.within = deviations.square().sum().item<double>();
  sums.between = count.size(0) > 1 ? means.var(0).sum().item<double>() : 0;
  sums.error = count.reciprocal().mean().item<double>();
  return sums;
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

/// LeftOutProducts of x [m, e] in units in which S0 is I, through the r eigenvectors of their scatter: O(m c r + m e
/// r).
std::function<LeftOutProducts(double)> left_out_products(const at::Tensor& x, const at::Tensor& means,
                                                         const Scatter& scatter) {
  const at::Tensor p = at::mm(x, scatter.directions), q = at::mm(means, scatter.directions);
  return [=, eigenvalues = scatter.eigenvalues](double nu) -> LeftOutProducts {
    const at::Tensor w = eigenvalues / (nu + eigenvalues);  // I - U diag(w) U' = nu (nu I + R)^-1
    return {values_of(x.square().sum(1) - at::mv(p.square(), w)),
            values_of(at::mm(x, means.t()) - at::mm(p * w, q.t())),
            values_of(at::mm(means, means.t()) - at::mm(q * w, q.t()))};
  };
}

/// A space for the classes at hand and how well it told their images apart.
struct AdaptedSpace {
  PldaSpace space;
  double degrees = 0;                  // that its within-class covariance counts as
  std::optional<ScaledLoss> left_out;  // of images left out, where that can be
};

/// Labelled images of the classes at hand, float64, without copies.
struct OwnImages {
  at::Tensor features;  // [m, d]
  at::Tensor labels;    // [m]
  at::Tensor count;     // [classes]

  [[nodiscard]] int64_t classes() const { return count.size(0); }
  /// Mean of the class means, of what `space` centers.
  [[nodiscard]] at::Tensor center(const PldaSpace& space) const {
    return class_means(space.rooted(features), labels, count).mean(0);
  }
};

/// S0 and B are multiples of I, and the eigenvectors of S the axes. Class means say of S what images do, as far as B
/// strays from a multiple of I as S does from S0: with one image per class nothing else is known of S.
struct IsotropicAxes {
  Isotropic variances;
  at::Tensor origin;  // [e]
  Scatter scatter;    // in units of S0
};

/// Of z, as isotropic_variances takes it. `weight`: class_mean_weight().
IsotropicAxes isotropic_axes(const at::Tensor& z, const at::Tensor& labels, const at::Tensor& count, double dims,
                             double weight) {
  const int64_t classes = count.size(0);
  const at::Tensor within = within_rows(z, labels, classes);
  const Isotropic found = isotropic_variances(isotropic_sums(z, labels, count, within, dims));
  const double unit = 1 / std::sqrt(found.within);
  const at::Tensor between = at::full({z.size(1)}, found.between, at::kDouble);
  return {found, class_means(z, labels, count).mean(0),
          scatter_of(at::cat({unit * within, std::sqrt(weight) * between_rows(unit * z, labels, classes, between)}),
                     static_cast<double>(z.size(0) - classes) + weight * static_cast<double>(classes - 1))};
}

/// Space for some of the images, in the coordinates that all of them have in the scatter of all: nothing else tells
/// classes apart.
FoldRows isotropic_fold(const at::Tensor& kept, const at::Tensor& labels, const at::Tensor& left, int64_t classes,
                        double dims, double degrees, double weight) {
  const IsotropicAxes axes = isotropic_axes(kept, labels, class_counts(labels, classes), dims, weight);
  const at::Tensor covariance = (degrees + axes.scatter.eigenvalues) / (degrees + axes.scatter.degrees);
  const at::Tensor map = axes.scatter.directions / (axes.variances.within * covariance).sqrt();
  return {at::mm(kept - axes.origin, map), at::mm(left - axes.origin, map), axes.variances.between / covariance};
}

AdaptedSpace isotropic_space(const OwnImages& images, const PldaAdaptation& adaptation) {
  const int64_t d = images.features.size(1);
  const int64_t classes = images.classes();
  AdaptedSpace result;
  PldaSpace& space = result.space;
  space.root = root_of(images.features);
  space.center = isotropic_center_share(adaptation, classes, space.root) * images.center(space);
  const at::Tensor z = space.directions(images.features);
  const auto dims = static_cast<double>(d);
  const double weight = class_mean_weight(adaptation, images.features.size(0), classes);
  const auto [found, origin, scatter] = isotropic_axes(z, images.labels, images.count, dims, weight);
  const at::Tensor coordinates = at::mm(z - origin, scatter.directions);
  double degrees = isotropic_degrees(adaptation, dims, images.features.size(0), classes);
  const int64_t fewest = fewest_of_folds(images.count.max().to(at::kLong).item<int64_t>());
  const auto answers = [&](double nu) {
    return scale_by_folds(
        coordinates, images.labels, classes, fewest, [&](const at::Tensor& kept, const at::Tensor& left_out) {
          return isotropic_fold(coordinates.index_select(0, kept), images.labels.index_select(0, kept),
                                coordinates.index_select(0, left_out), classes, dims, nu, weight);
        });
  };
  result.left_out = answers(degrees);
  if (result.left_out) {
    const auto firmer = answers(kFirmer * degrees);
    if (surely_less(firmer->loss, result.left_out->loss)) {
      result.left_out = firmer;
      degrees *= kFirmer;
    }
  }
  if (fewest < kFewestOfFolds || !result.left_out)
    result.left_out = {{}, scale_without_folds(adaptation, degrees, images.features.size(0), classes)};
  const int64_t rank = scatter.eigenvalues.size(0);
  const at::Tensor covariance =
      (degrees + at::cat({scatter.eigenvalues, at::zeros({d - rank}, at::kDouble)})) / (degrees + scatter.degrees);
  space.projection = complete_basis(scatter.directions) / (found.within * covariance).sqrt();
  space.offset = at::mv(space.projection.t(), origin);
  space.between = found.between / covariance;
  space.leading = std::max<int64_t>(rank, 1);
  result.degrees = degrees + scatter.degrees;
  return result;
}

/// What labelled images change in a fitted space, by their rows f [m, e] in it. Class means say nothing of S here:
/// where few foreign classes differ, `between` is an extrapolation.
struct SpaceUpdate {
  at::Tensor shift;  // of the origin, [e]
  double scale = 1;  // of the variance within classes
  Scatter scatter;   // of rows in units of it; empty where no class has two images
  WithinWhitening whitening;

  [[nodiscard]] bool whitens() const { return scatter.eigenvalues.numel() > 0; }
  /// Rows [n, e], of which the origin was taken.
  [[nodiscard]] at::Tensor apply(const at::Tensor& rows) const {
    return whitens() ? whitening.apply(rows) / std::sqrt(scale) : rows;
  }
  [[nodiscard]] at::Tensor apply_to_variance(const at::Tensor& variance) const {
    return whitens() ? whitening.apply_to_variance(variance / scale) : variance;
  }
};

SpaceUpdate update_of(const at::Tensor& f, const at::Tensor& labels, const at::Tensor& count,
                      const PldaAdaptation& adaptation) {
  const int64_t classes = count.size(0);
  SpaceUpdate update;
  update.shift = center_share(adaptation, classes) * class_means(f, labels, count).mean(0);
  update.scatter = scatter_of(within_rows(f, labels, classes), static_cast<double>(f.size(0) - classes));
  if (!update.whitens()) return update;
  const auto dims = static_cast<double>(f.size(1));
  update.scale = (adaptation.scale_degrees + update.scatter.eigenvalues.sum().item<double>() / dims) /
                 (adaptation.scale_degrees + update.scatter.degrees);
  update.scatter.eigenvalues = update.scatter.eigenvalues / update.scale;
  return update;
}

FoldRows fitted_fold(const at::Tensor& kept, const at::Tensor& labels, const at::Tensor& left_out, int64_t classes,
                     const at::Tensor& between, const PldaAdaptation& adaptation, double degrees) {
  SpaceUpdate update = update_of(kept, labels, class_counts(labels, classes), adaptation);
  if (update.whitens()) update.whitening = whitening_of(update.scatter, degrees);
  return {update.apply(kept - update.shift), update.apply(left_out - update.shift), update.apply_to_variance(between)};
}

/// Between the classes of labelled images, by their rows f [m, e] in a fitted space, [e].
at::Tensor between_at_hand(const PldaSpace& fitted, const at::Tensor& f, const OwnImages& own,
                           const PldaAdaptation& adaptation) {
  if (adaptation.added_between < 0) return fitted.between;
  const int64_t rest = f.size(1) - fitted.leading;
  const at::Tensor x = f.narrow(1, fitted.leading, rest), between = fitted.between.narrow(0, fitted.leading, rest);
  const IsotropicSums sums =
      isotropic_sums(x, own.labels, own.count, within_rows(x, own.labels, own.classes()), static_cast<double>(rest));
  return fitted.between + added_between(adaptation, sums, rest > 0 ? between.mean().item<double>() : 0);
}

/// A fitted space after labelled images.
AdaptedSpace fitted_space(const PldaSpace& fitted, const OwnImages& own, const PldaAdaptation& adaptation) {
  AdaptedSpace result{fitted, adaptation.degrees, {}};
  PldaSpace& space = result.space;
  space.center = fitted.center + center_share(adaptation, own.classes()) * (own.center(fitted) - fitted.center);
  const at::Tensor f = space.transform(own.features);
  SpaceUpdate update = update_of(f, own.labels, own.count, adaptation);
  space.offset = fitted.offset + update.shift;
  const at::Tensor between = between_at_hand(fitted, f, own, adaptation);
  space.between = between;
  if (!update.whitens()) return result;
  const at::Tensor x = (f - update.shift) / std::sqrt(update.scale);
  const std::vector<int64_t> labels{own.labels.data_ptr<int64_t>(), own.labels.data_ptr<int64_t>() + x.size(0)};
  const double degrees = choose_degrees(adaptation.degrees, {&labels, own.classes(), update.scatter.degrees},
                                        left_out_products(x, class_means(x, own.labels, own.count), update.scatter));
  update.whitening = whitening_of(update.scatter, degrees);
  result.degrees = degrees + update.scatter.degrees;
  space.projection = update.apply(fitted.projection);
  space.offset = update.apply(space.offset.unsqueeze(0)).squeeze(0);
  space.between = update.apply_to_variance(between);
  const auto fold = [&](const at::Tensor& kept, const at::Tensor& left_out) {
    return fitted_fold(f.index_select(0, kept), own.labels.index_select(0, kept), f.index_select(0, left_out),
                       own.classes(), between, adaptation, degrees);
  };
  result.left_out = scale_by_folds(f, own.labels, own.classes(), 2, fold);
  return result;
}

/// The fitted space, or one of the images alone where they are as many as dimensions and that is surely better.
AdaptedSpace adapted_space(const PldaModel& model, const OwnImages& own) {
  if (model.adaptation.isotropic) return isotropic_space(own, model.adaptation);
  AdaptedSpace fitted = fitted_space(model.space, own, model.adaptation);
  const auto degrees = own.features.size(0) - own.classes();
  if (!fitted.left_out || degrees < own.features.size(1)) return fitted;
  AdaptedSpace alone = isotropic_space(own, model.adaptation);
  // With classes of two images beside larger ones fewer are left out here, and nothing can be compared.
  const bool comparable = !alone.left_out->loss.empty() && alone.left_out->loss.size() == fitted.left_out->loss.size();
  return comparable && surely_less(alone.left_out->loss, fitted.left_out->loss) ? alone : fitted;
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

at::Tensor within_rows(const at::Tensor& x, const at::Tensor& labels, int64_t classes) {
  return x - class_means(x, labels, class_counts(labels, classes)).index_select(0, labels);
}

at::Tensor between_rows(const at::Tensor& x, const at::Tensor& labels, int64_t classes, const at::Tensor& between) {
  const at::Tensor count = class_counts(labels, classes);
  const at::Tensor means = class_means(x, labels, count);
  return (means - means.mean(0)) / (between + count.reciprocal().unsqueeze(1)).sqrt();
}

Scatter scatter_of(const at::Tensor& rows, double degrees) {
  Scatter scatter;
  scatter.degrees = degrees;
  const bool by_rows = rows.size(0) <= rows.size(1);
  const auto [values, vectors] = at::linalg_eigh(by_rows ? at::mm(rows, rows.t()) : at::mm(rows.t(), rows));
  const at::Tensor kept = values.gt(values.max() * kRankTolerance).logical_and(values.gt(0)).nonzero().flatten();
  scatter.eigenvalues = values.index_select(0, kept);
  scatter.directions = vectors.index_select(1, kept);
  if (by_rows) scatter.directions = at::mm(rows.t(), scatter.directions) / scatter.eigenvalues.sqrt();
  return scatter;
}

at::Tensor WithinWhitening::apply(const at::Tensor& x) const {
  return base * x + at::mm(at::mm(x, directions) * gain, directions.t());
}

at::Tensor WithinWhitening::apply_to_variance(const at::Tensor& variance) const {
  const at::Tensor scaled = directions * gain;                                          // [e, r]
  const at::Tensor inner = at::mm(directions.t(), variance.unsqueeze(1) * directions);  // [r, r]
  return base * base * variance + 2 * base * variance * (directions * scaled).sum(1) +
         (at::mm(scaled, inner) * scaled).sum(1);
}

WithinWhitening whitening_of(const Scatter& scatter, double nu) {
  const double total = nu + scatter.degrees;
  WithinWhitening whitening;
  whitening.base = std::sqrt(total / nu);
  whitening.directions = scatter.directions;
  whitening.gain = (total / (nu + scatter.eigenvalues)).sqrt() - whitening.base;
  return whitening;
}

PldaSpace with_isotropic_share(const PldaSpace& space, double share) {
  const int64_t dims = space.projection.size(1);
  const at::Tensor isotropic = at::mm(space.projection.t(), space.projection);
  const double unit = static_cast<double>(dims) / isotropic.trace().item<double>();
  const auto [values, vectors] = at::linalg_eigh((1 - share) * at::eye(dims, at::kDouble) + share * unit * isotropic);
  const at::Tensor root = at::mm(vectors / values.sqrt(), vectors.t());
  PldaSpace result = space;
  result.projection = at::mm(space.projection, root);
  result.offset = at::mv(root, space.offset);
  result.between = at::mv(root.square(), space.between);
  return result;
}

void set_scale(double scale, PldaModel& model) {
  for (ByShots* shots : {&model.inductive_scale, &model.transductive_scale, &model.known_slope})
    *shots = {scale, scale, scale};
}

PldaModel adapted(const PldaModel& model, const at::Tensor& features, const at::Tensor& labels, int64_t classes) {
  check_images(model, features);
  OwnImages own;
  std::tie(own.features, own.labels) = without_copies(features.to(at::kDouble), labels);
  own.count = class_counts(own.labels, classes);
  PldaModel result = model;
  const AdaptedSpace found = adapted_space(model, own);
  result.space = found.space;
  result.residual = result.space.between;
  result.knowledge = nullptr;
  result.adaptation = {};
  if (found.left_out) set_scale(found.left_out->scale, result);
  const double images = own.count.mean().item<double>();
  const double batch = result.inductive_scale.five * kBatchTrust * images / (images + kBatchDoubt);
  result.transductive_scale = {batch, batch, batch};
  result.vb.degrees = found.degrees;
  return result;
}

}  // namespace protocom
