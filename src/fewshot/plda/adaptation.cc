#include "fewshot/plda/adaptation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

/// `deviations` of z from its class means, [m, d].
Isotropic isotropic_variances(const at::Tensor& z, const at::Tensor& labels, const at::Tensor& count,
                              const at::Tensor& deviations) {
  const auto dims = static_cast<double>(z.size(1));
  const auto classes = static_cast<double>(count.size(0));
  const double degrees = static_cast<double>(z.size(0)) - classes;
  const at::Tensor means = class_means(z, labels, count);
  const double spread = classes > 1 ? means.var(0).sum().item<double>() / dims : 1 / dims;
  const double within = deviations.square().sum().item<double>() / dims / std::max(degrees, 1.0);
  if (!(within > 0)) return {std::max(spread, 1e-12) / (1 + kUnknownBetween), kUnknownBetween};
  const double error = count.reciprocal().mean().item<double>();
  return {within, std::max(spread / within - error, kLeastBetween)};
}

/// Times adaptation.degrees; the first stays unless another is surely better.
constexpr std::array<double, 5> kDegreeFactors = {1, 0.3, 0.1, 3, 10};

bool surely_less(const at::Tensor& loss, const at::Tensor& than) {
  const at::Tensor gain = than - loss;
  const auto n = static_cast<double>(gain.numel());
  return gain.numel() > 1 && gain.mean().item<double>() > gain.std().item<double>() / std::sqrt(n);
}

/// The degrees that leaving images out prefers, and what it says then; no loss where no image can be left out.
struct ChosenDegrees {
  double degrees = 0;
  LeftOutAnswers left_out;
};

/// Of x in units in which S0 is I.
ChosenDegrees choose_degrees(const at::Tensor& x, const at::Tensor& labels, int64_t classes, const Scatter& scatter,
                             double usual) {
  ChosenDegrees first{usual, {{}, kDefaultScale}};
  if (x.size(0) == classes || scatter.eigenvalues.numel() == 0) return first;  // no image can be left out
  ChosenDegrees best;
  for (const double factor : kDegreeFactors) {
    const double degrees = factor * usual;
    const LeftOutAnswers found = left_out_answers(x, labels, classes, scatter, degrees);
    if (!best.left_out.loss.defined()) {
      best = first = {degrees, found};
    } else if (surely_less(found.loss, first.left_out.loss) &&
               found.loss.mean().item<double>() < best.left_out.loss.mean().item<double>()) {
      best = {degrees, found};
    }
  }
  return best;
}

/// A space for the classes at hand and how well it told their images apart.
struct AdaptedSpace {
  PldaSpace space;
  LeftOutAnswers left_out;
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
AdaptedSpace isotropic_space(const OwnImages& images, const PldaAdaptation& adaptation) {
  const int64_t d = images.features.size(1);
  const int64_t classes = images.classes();
  AdaptedSpace result;
  PldaSpace& space = result.space;
  space.root = root_of(images.features);
  space.center = center_share(adaptation, classes) * images.center(space);
  const at::Tensor z = space.directions(images.features);
  const at::Tensor within = within_rows(z, images.labels, classes);
  const Isotropic found = isotropic_variances(z, images.labels, images.count, within);
  const double unit = 1 / std::sqrt(found.within);
  const at::Tensor between = at::full({d}, found.between, at::kDouble);
  const Scatter scatter = scatter_of(at::cat({unit * within, between_rows(unit * z, images.labels, classes, between)}),
                                     static_cast<double>(z.size(0) - 1));
  const at::Tensor origin = class_means(z, images.labels, images.count).mean(0);
  const ChosenDegrees chosen = choose_degrees(unit * (z - origin), images.labels, classes, scatter, adaptation.degrees);
  result.left_out = chosen.left_out;
  const int64_t rank = scatter.eigenvalues.size(0);
  const at::Tensor covariance = (chosen.degrees + at::cat({scatter.eigenvalues, at::zeros({d - rank}, at::kDouble)})) /
                                (chosen.degrees + scatter.degrees);
  const at::Tensor axes =
      rank == 0 ? at::eye(d, at::kDouble) : std::get<0>(at::linalg_qr(scatter.directions, "complete"));
  space.projection = axes / (found.within * covariance).sqrt();
  space.offset = at::mv(space.projection.t(), origin);
  space.between = found.between / covariance;
  space.leading = std::max<int64_t>(rank, 1);
  return result;
}

/// A fitted space after labelled images. Class means say nothing of S here: where few foreign classes differ, `between`
/// is an extrapolation.
AdaptedSpace fitted_space(const PldaSpace& fitted, const OwnImages& own, const PldaAdaptation& adaptation) {
  const double share = center_share(adaptation, own.classes());
  AdaptedSpace result{fitted, {{}, kDefaultScale}};
  PldaSpace& space = result.space;
  space.center = fitted.center + share * (own.center(fitted) - fitted.center);
  const at::Tensor f = space.transform(own.features);
  const at::Tensor shift = share * class_means(f, own.labels, own.count).mean(0);
  space.offset = fitted.offset + shift;
  Scatter scatter =
      scatter_of(within_rows(f, own.labels, own.classes()), static_cast<double>(f.size(0) - own.classes()));
  if (scatter.eigenvalues.numel() == 0) return result;
  const auto dims = static_cast<double>(f.size(1));
  const double scale = (adaptation.scale_degrees + scatter.eigenvalues.sum().item<double>() / dims) /
                       (adaptation.scale_degrees + scatter.degrees);
  scatter.eigenvalues = scatter.eigenvalues / scale;
  const double unit = 1 / std::sqrt(scale);
  const ChosenDegrees chosen =
      choose_degrees(unit * (f - shift), own.labels, own.classes(), scatter, adaptation.degrees);
  result.left_out = chosen.left_out;
  const WithinWhitening whitening = whitening_of(scatter, chosen.degrees);
  space.projection = unit * whitening.apply(fitted.projection);
  space.offset = unit * whitening.apply(space.offset.unsqueeze(0)).squeeze(0);
  space.between = whitening.apply_to_variance(fitted.between / scale);
  return result;
}

/// The fitted space, or one of the images alone where they are as many as dimensions and that is surely better.
AdaptedSpace adapted_space(const PldaModel& model, const OwnImages& own) {
  if (model.adaptation.isotropic) return isotropic_space(own, model.adaptation);
  AdaptedSpace fitted = fitted_space(model.space, own, model.adaptation);
  const auto degrees = own.features.size(0) - own.classes();
  if (!fitted.left_out.loss.defined() || degrees < own.features.size(1)) return fitted;
  AdaptedSpace alone = isotropic_space(own, model.adaptation);
  const bool better = alone.left_out.loss.defined() && surely_less(alone.left_out.loss, fitted.left_out.loss);
  return better ? alone : fitted;
}

/// The scale of log densities [m, c] under which the labels are likely, and each label's loss.
LeftOutAnswers most_likely_scale(const at::Tensor& logs, const at::Tensor& labels) {
  constexpr double kFirst = 0.01, kLast = 2, kStep = 1.4;
  LeftOutAnswers best;
  double least = std::numeric_limits<double>::infinity();
  for (double scale = kFirst; scale < kLast; scale *= kStep) {
    const at::Tensor loss = -(scale * logs).log_softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1);
    const double away = std::log(scale / kDefaultScale);
    const double cost = loss.sum().item<double>() + 0.5 * away * away;
    if (!(cost < least)) continue;
    least = cost;
    best = {loss, scale};
  }
  return best;
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

LeftOutAnswers left_out_answers(const at::Tensor& x, const at::Tensor& labels, int64_t classes, const Scatter& scatter,
                                double nu) {
  const at::Tensor count = class_counts(labels, classes);
  const at::Tensor means = class_means(x, labels, count);
  // Inner products u' (I - U diag(w) U') v = nu u' (nu I + R)^-1 v.
  const at::Tensor w = scatter.eigenvalues / (nu + scatter.eigenvalues);
  const at::Tensor p = at::mm(x, scatter.directions), q = at::mm(means, scatter.directions);
  const at::Tensor xx = x.square().sum(1) - at::mv(p.square(), w);        // [m]
  const at::Tensor xm = at::mm(x, means.t()) - at::mm(p * w, q.t());      // [m, c]
  const at::Tensor mm = at::mm(means, means.t()) - at::mm(q * w, q.t());  // [c, c]
  const at::Tensor squared = xx.unsqueeze(1) + mm.diagonal() - 2 * xm;
  const at::Tensor own = labels.unsqueeze(1);
  const at::Tensor g = squared.gather(1, own);  // of a = x - m_own, [m, 1]
  const at::Tensor h = xx.unsqueeze(1) - xm - xm.gather(1, own) + mm.index_select(0, labels);  // a against x - m_c
  const at::Tensor images = count.index_select(0, labels).unsqueeze(1);
  const at::Tensor k = images / (images - 1);
  const at::Tensor left = nu - k * g;  // above 0: R less the image's part is positive semidefinite
  at::Tensor distance = (squared + k * h.square() / left) / nu;
  distance = distance.scatter(1, own, k.square() * g / left) * (nu + scatter.degrees - 1);
  const at::Tensor kept = images.squeeze(1).gt(1).nonzero().flatten();
  return most_likely_scale(-0.5 * distance.index_select(0, kept), labels.index_select(0, kept));
}

void set_scale(double scale, PldaModel& model) {
  for (ByShots* one : {&model.inductive_scale, &model.transductive_scale, &model.known_slope})
    *one = {scale, scale, scale};
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
  if (found.left_out.loss.defined()) set_scale(found.left_out.scale, result);
  return result;
}

}  // namespace protocom
