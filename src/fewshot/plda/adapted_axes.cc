#include "fewshot/plda/detail/adapted_axes.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fewshot/plda/detail/added_between.h"
#include "fewshot/plda/detail/left_out.h"
#include "fewshot/plda/detail/left_out_folds.h"
#include "fewshot/toolbox/detail/complete_basis.h"

namespace protocom {
namespace {

/// Sums over `count` images of each class in a space of `dims` dimensions, from coordinates in any subspace that
/// contains their differences; `within`: the sum of squared differences from the class means.
IsotropicSums isotropic_sums(const DoubleVector& count, const DoubleMatrix& means, double within, double dims) {
  IsotropicSums sums;
  sums.dims = dims;
  sums.images = count.sum();
  sums.classes = static_cast<double>(count.size());
  sums.within = within;
  sums.between = (means.rowwise() - means.colwise().mean()).squaredNorm() / std::max(sums.classes - 1, 1.0);
  sums.error = count.cwiseInverse().mean();
  return sums;
}

/// What labelled images change in a space, except nu.
struct Followed {
  DoubleVector origin;  // [e]
  double unit = 1;      // variance within classes
  Scatter scatter;      // in units of `unit`; empty if nothing is known
  double between = 0;   // in units of `unit`, if it is a single number

  [[nodiscard]] bool whitens() const { return scatter.eigenvalues.size() > 0; }
};

/// Least weight of class means: with it their directions are among the axes, in which images are distinguished.
constexpr double kFaintWeight = 1e-6;

/// Returns the degrees of the scatter of images and, with weight `weight`, of class means.
double degrees_of(const DoubleVector& count, double weight) {
  const auto classes = static_cast<double>(count.size());
  return count.sum() - classes + weight * (classes - 1);
}

/// Adapts a space that was not fitted. `asked`: class_mean_weight().
Followed follow_isotropic(const ClassRows& rows, double dims, double asked) {
  const double weight = std::max(asked, kFaintWeight);
  const DoubleVector count = rows.count();
  const DoubleMatrix within = within_rows(rows), means = rows.means();
  const Isotropic found = isotropic_variances(isotropic_sums(count, means, within.squaredNorm(), dims));
  const double root = 1 / std::sqrt(found.within);
  DoubleMatrix scattered(rows.images() + rows.classes, rows.x.cols());
  scattered << root * within, std::sqrt(weight) * root * between_rows(count, means, found.between);
  return {means.colwise().mean(), found.within, scatter_of(scattered, degrees_of(count, weight)), found.between};
}

/// Does the same for many images.
Followed follow_isotropic(const ClassMoments& rows, double dims, double asked) {
  const double weight = std::max(asked, kFaintWeight);
  const DoubleMatrix means = rows.means(), within = rows.within();
  const Isotropic found = isotropic_variances(isotropic_sums(rows.count, means, within.trace(), dims));
  const DoubleMatrix between = between_rows(rows.count, means, found.between);
  const DoubleMatrix sum = (within + weight * (between.transpose() * between)) / found.within;
  return {means.colwise().mean(), found.within, scatter_of_sum(sum, degrees_of(rows.count, weight)), found.between};
}

/// Whether there are so many rows that working with their sums is faster.
bool are_many(const ClassRows& rows) {
  constexpr int64_t kMany = 2000, kManyPerDimension = 4;
  return rows.images() >= std::max(kMany, kManyPerDimension * rows.x.cols());
}

Followed follow_isotropic_rows(const ClassRows& rows, double dims, double asked) {
  return are_many(rows) ? follow_isotropic(ClassMoments::of(rows), dims, asked) : follow_isotropic(rows, dims, asked);
}

AdaptedAxes isotropic_axes(const Followed& followed, double nu, double dims) {
  AdaptedAxes axes{followed.origin, whitening_of(followed.scatter, nu, followed.unit), true, {}};
  const double unit = followed.unit * followed.between;
  axes.space.between = unit * axes.whitening.along.array().square();
  axes.space.rest_between = unit * axes.whitening.across * axes.whitening.across;
  axes.space.rest_dims = dims - static_cast<double>(axes.space.between.size());
  return axes;
}

/// Adapts a fitted space.
Followed follow_fitted(const ClassRows& rows, const PldaAdaptation& adaptation) {
  Followed followed;
  followed.origin = center_share(adaptation, rows.classes) * rows.means().colwise().mean();
  followed.scatter = scatter_of(within_rows(rows), static_cast<double>(rows.images() - rows.classes));
  if (!followed.whitens()) return followed;
  const double per_dimension = followed.scatter.eigenvalues.sum() / static_cast<double>(rows.x.cols());
  followed.unit = (adaptation.scale_degrees + per_dimension) / (adaptation.scale_degrees + followed.scatter.degrees);
  followed.scatter.eigenvalues /= followed.unit;
  return followed;
}

AdaptedAxes fitted_axes(const Followed& followed, double nu, const DoubleVector& between) {
  AdaptedAxes axes{followed.origin, {DoubleMatrix(between.size(), 0), {}, 1}, false, {between}};
  if (!followed.whitens()) return axes;
  axes.whitening = whitening_of(followed.scatter, nu, followed.unit);
  axes.space.between = axes.whitening.variance(between);
  return axes;
}

/// Returns LeftOutProducts of rows in units in which S0 is I, computed through the r eigenvectors of their scatter:
/// O(m c r + m e r).
std::function<LeftOutProducts(double)> left_out_products(const ClassRows& rows, const Followed& followed) {
  const double root = 1 / std::sqrt(followed.unit);
  const DoubleMatrix x = root * (rows.x.rowwise() - followed.origin.transpose());
  const DoubleMatrix means = root * (rows.means().rowwise() - followed.origin.transpose());
  const DoubleMatrix p = x * followed.scatter.directions, q = means * followed.scatter.directions;
  const DoubleVector images = x.rowwise().squaredNorm();
  const DoubleMatrix across = x * means.transpose(), between = means * means.transpose();
  const auto values = [](const auto& matrix) {
    return std::vector<double>(matrix.data(), matrix.data() + matrix.size());
  };
  return [=, eigenvalues = followed.scatter.eigenvalues](double nu) -> LeftOutProducts {
    // I - U diag(w) U' = nu (nu I + R)^-1
    const DoubleVector w = eigenvalues.array() / (nu + eigenvalues.array());
    const DoubleVector left_of_images = images - p.array().square().matrix() * w;
    const DoubleMatrix weighted = w.asDiagonal() * q.transpose();
    const DoubleMatrix left_across = across - p * weighted, left_of_means = between - q * weighted;
    return {values(left_of_images), values(left_across), values(left_of_means)};
  };
}

/// Returns log predictives [k, n] of images x [k, e] for the classes of rows.
DoubleMatrix scores_of(const AdaptedAxes& axes, const ClassRows& rows, const DoubleMatrix& x) {
  const DoubleVector count = rows.count();
  return DiagonalClasses(axes.space, count, count.asDiagonal() * axes.place(rows.means()).x)
      .linear_scores(axes.place(x).x);
}

/// Returns the spread of an image's log predictives for classes other than its own: the images of each fold are scored
/// in the space that `axes` makes of the other classes. 0 if there are fewer than three classes.
double spread_of_scores(const ClassRows& rows, const std::function<AdaptedAxes(const ClassRows&)>& axes) {
  constexpr int64_t kFewest = 3;
  if (rows.classes < kFewest) return 0;
  ScoreSpread spread;
  for (const ClassFold& fold : class_folds(rows)) {
    const DoubleMatrix scores = scores_of(axes(fold.kept), fold.kept, fold.left_out);
    for (int64_t i = 0; i < scores.rows(); ++i) spread.add(scores.row(i).data(), scores.cols());
  }
  return spread.value();
}

/// A fold in a space that was not fitted, along the directions of its scatter, which are the same for every nu.
class IsotropicFold {
 public:
  IsotropicFold(Followed followed, DoubleVector count, const DoubleMatrix& means, const DoubleMatrix& asked)
      : followed_(std::move(followed)), count_(std::move(count)), means_(along(means)), asked_(along(asked)) {}

  /// Returns log predictives of the images scored.
  [[nodiscard]] DoubleMatrix scores(double nu, double dims) const {
    const AdaptedAxes axes = isotropic_axes(followed_, nu, dims);
    const auto scaled = [&](const DoubleMatrix& places) -> DoubleMatrix {
      return places * axes.whitening.along.asDiagonal();
    };
    return DiagonalClasses(axes.space, count_, count_.asDiagonal() * scaled(means_)).linear_scores(scaled(asked_));
  }

 private:
  [[nodiscard]] DoubleMatrix along(const DoubleMatrix& x) const {
    return (x.rowwise() - followed_.origin.transpose()) * followed_.scatter.directions;
  }

  Followed followed_;
  DoubleVector count_;          // [n]
  DoubleMatrix means_, asked_;  // [n, r], [k, r]
};

/// Makes the fold from the rows kept and the images scored; `all`: the moments of all rows, if there are many.
IsotropicFold isotropic_fold(const ClassRows& rows, const std::optional<ClassMoments>& all, const LeftOutFold& fold,
                             double dims, double weight) {
  const DoubleMatrix asked = rows.x(fold.asked, Eigen::all);
  if (all) {
    const ClassMoments kept = all->without(rows, fold.images.left_out);
    return {follow_isotropic(kept, dims, weight), kept.count, kept.means(), asked};
  }
  const ClassRows kept = rows.of(fold.images.kept);
  return {follow_isotropic(kept, dims, weight), kept.count(), kept.means(), asked};
}

/// Whether the folds' spaces are too unlike that of all images to determine its scale: probabilities would be up to 20
/// points too low.
bool has_few_images(const ClassRows& rows) {
  constexpr double kFewImages = 4;
  return rows.count().mean() < kFewImages;
}

/// Sets the scale for few images per class in a space that was not fitted, instead of the scale of held-out images.
void scale_few(const ClassRows& rows, double dims, double weight, double nu, int64_t fewest,
               std::optional<ScaledLoss>& left_out) {
  const double spread = spread_of_scores(
      rows, [&](const ClassRows& kept) { return isotropic_axes(follow_isotropic_rows(kept, dims, weight), nu, dims); });
  const double scale = left_out ? scale_of_few(*left_out, rows.count().mean(), spread, rows.classes)
                                : scale_of_one(spread, rows.classes, dims);
  if (fewest < kFewestOfFolds || !left_out) left_out = ScaledLoss{};
  left_out->scale = scale;
}

}  // namespace

PlacedImages AdaptedAxes::place(const DoubleMatrix& x, const DoubleVector& outside) const {
  const DoubleMatrix moved = x.rowwise() - origin.transpose();
  if (!turned) return {whitening.apply(moved), DoubleVector::Zero(x.rows())};
  DoubleMatrix places = moved * whitening.directions;
  DoubleVector rest = moved.rowwise().squaredNorm() - places.rowwise().squaredNorm();
  if (outside.size() > 0) rest += outside;
  rest = whitening.across * whitening.across * rest.cwiseMax(0);
  places.array().rowwise() *= whitening.along.transpose().array();
  return {std::move(places), std::move(rest)};
}

AdaptedAxes AdaptedAxes::complete() const {
  if (!turned) return *this;
  const int64_t dims = whitening.directions.rows(), own = whitening.directions.cols();
  AdaptedAxes all = *this;
  if (own < dims) all.whitening.directions = complete_basis(whitening.directions);
  all.whitening.along.conservativeResize(dims);
  all.whitening.along.tail(dims - own).setConstant(whitening.across);
  all.space.between.conservativeResize(dims);
  all.space.between.tail(dims - own).setConstant(space.rest_between);
  all.space.rest_dims -= static_cast<double>(dims - own);
  return all;
}

AdaptedSpace isotropic_space(const ClassRows& rows, double dims, const PldaAdaptation& adaptation, LeftOut which) {
  const double weight = class_mean_weight(adaptation, rows.images(), rows.classes);
  const double usual = isotropic_degrees(adaptation, dims, rows.images(), rows.classes);
  const int64_t fewest = fewest_of_folds(static_cast<int64_t>(rows.count().maxCoeff()));
  const std::optional<ClassMoments> all = are_many(rows) ? std::optional(ClassMoments::of(rows)) : std::nullopt;
  AdaptedSpace result;
  double degrees = usual;
  {
    const LeftOutFolds left_out(rows, fewest, which);
    std::vector<IsotropicFold> folds;
    for (const LeftOutFold& fold : left_out.folds()) folds.push_back(isotropic_fold(rows, all, fold, dims, weight));
    const auto answers = [&](double nu) {
      return left_out.scale([&](size_t fold) { return folds[fold].scores(nu, dims); }, scale_prior(fewest));
    };
    const bool fixed = adaptation.fixed_degrees > 0;
    ChosenDegrees chosen = fixed ? ChosenDegrees{usual, answers(usual)} : choose_isotropic_degrees(usual, answers);
    degrees = chosen.degrees;
    result.left_out = std::move(chosen.left_out);
  }
  if (has_few_images(rows)) scale_few(rows, dims, weight, degrees, fewest, result.left_out);
  const Followed followed = all ? follow_isotropic(*all, dims, weight) : follow_isotropic(rows, dims, weight);
  result.axes = isotropic_axes(followed, degrees, dims);
  result.nu = degrees;
  result.degrees = degrees + followed.scatter.degrees;
  return result;
}

AdaptedSpace fitted_space(const ClassRows& rows, const DoubleVector& between, const PldaAdaptation& adaptation) {
  const Followed all = follow_fitted(rows, adaptation);
  if (!all.whitens()) {
    const double spread = spread_of_scores(rows, [&](const ClassRows& kept) {
      return fitted_axes(follow_fitted(kept, adaptation), adaptation.degrees, between);
    });
    const double scale = scale_of_spread(kSpaceSpread, kScaledSpreadInSpace, spread, rows.classes);
    const double nu = adaptation.degrees;
    return {fitted_axes(all, nu, between), nu, nu, ScaledLoss{{}, scale, spread}};
  }
  const LeftOutLabels labels{&rows.label, rows.classes, all.scatter.degrees};
  const double degrees = adaptation.fixed_degrees > 0
                             ? adaptation.fixed_degrees
                             : choose_degrees(adaptation.degrees, labels, left_out_products(rows, all));
  AdaptedSpace result{fitted_axes(all, degrees, between), degrees, degrees + all.scatter.degrees, {}};
  const LeftOutFolds left_out(rows, 2, LeftOut::kAll);
  result.left_out = left_out.scale([&](size_t number) {
    const LeftOutFold& fold = left_out.folds()[number];
    const ClassRows kept = rows.of(fold.images.kept);
    return scores_of(fitted_axes(follow_fitted(kept, adaptation), degrees, between), kept,
                     rows.x(fold.asked, Eigen::all));
  });
  return result;
}

DoubleVector between_at_hand(const ClassRows& rows, DoubleVector between, int64_t leading,
                             const PldaAdaptation& adaptation) {
  if (adaptation.added_between < 0) return between;
  const int64_t rest = rows.x.cols() - leading;
  const ClassRows others{rows.x.rightCols(rest), rows.label, rows.classes};
  const double fitted = rest > 0 ? between.tail(rest).mean() : 0;
  between.array() += added_between(
      adaptation,
      isotropic_sums(others.count(), others.means(), within_rows(others).squaredNorm(), static_cast<double>(rest)),
      fitted);
  return between;
}

bool is_surely_better(const AdaptedSpace& alone, const AdaptedSpace& fitted) {
  // If some classes have two images and others more, fewer images are left out here, so the losses cannot be compared.
  const bool comparable = !alone.left_out->loss.empty() && alone.left_out->loss.size() == fitted.left_out->loss.size();
  return comparable && surely_less(alone.left_out->loss, fitted.left_out->loss);
}

}  // namespace protocom
