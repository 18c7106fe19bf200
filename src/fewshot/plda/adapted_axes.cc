#include "fewshot/plda/detail/adapted_axes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "fewshot/plda/detail/added_between.h"
#include "fewshot/plda/detail/left_out.h"
#include "fewshot/toolbox/detail/complete_basis.h"

namespace protocom {
namespace {

/// Log densities of a batch are worth kBatchTrust K / (K + kBatchDoubt) of those of single photos, K labelled images
/// per class. Found with 10 queries per class on val classes of CUB-100 and of Tiny-ImageNet-100 (docs/log/plda.md).
constexpr double kBatchTrust = 0.6, kBatchDoubt = 0.8;

/// Of rows in a space of `dims` dimensions, by coordinates in any subspace that has their differences; `deviations`
/// [m, e] from the class means.
IsotropicSums isotropic_sums(const ClassRows& rows, const DoubleMatrix& deviations, double dims) {
  const DoubleMatrix means = rows.means();
  const double classes = static_cast<double>(rows.classes);
  IsotropicSums sums;
  sums.dims = dims;
  sums.images = static_cast<double>(rows.images());
  sums.classes = classes;
  sums.within = deviations.squaredNorm();
  sums.between = (means.rowwise() - means.colwise().mean()).squaredNorm() / std::max(classes - 1, 1.0);
  sums.error = rows.count().cwiseInverse().mean();
  return sums;
}

/// What labelled images change, but for nu.
struct Followed {
  DoubleVector origin;  // [e]
  double unit = 1;      // variance within classes
  Scatter scatter;      // in units of it; empty if nothing is known
  double between = 0;   // in units of it, where that is one number

  [[nodiscard]] bool whitens() const { return scatter.eigenvalues.size() > 0; }
};

/// Of class means at least: they lie in the axes then, in which images are distinguished.
constexpr double kFaintWeight = 1e-6;

/// Where no space was fitted. `asked`: class_mean_weight().
Followed follow_isotropic(const ClassRows& rows, double dims, double asked) {
  const double weight = std::max(asked, kFaintWeight);
  const DoubleMatrix within = within_rows(rows);
  const Isotropic found = isotropic_variances(isotropic_sums(rows, within, dims));
  const double root = 1 / std::sqrt(found.within);
  DoubleMatrix scattered(rows.images() + rows.classes, rows.x.cols());
  scattered << root * within, std::sqrt(weight) * root * between_rows(rows, found.between);
  const double degrees =
      static_cast<double>(rows.images() - rows.classes) + weight * static_cast<double>(rows.classes - 1);
  return {rows.means().colwise().mean(), found.within, scatter_of(scattered, degrees), found.between};
}

AdaptedAxes isotropic_axes(const Followed& followed, double nu, double dims) {
  AdaptedAxes axes{followed.origin, whitening_of(followed.scatter, nu, followed.unit), true, {}};
  const double unit = followed.unit * followed.between;
  axes.space.between = unit * axes.whitening.along.array().square();
  axes.space.rest_between = unit * axes.whitening.across * axes.whitening.across;
  axes.space.rest_dims = dims - static_cast<double>(axes.space.between.size());
  return axes;
}

/// In a fitted space.
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

/// LeftOutProducts of rows in units in which S0 is I, through the r eigenvectors of their scatter: O(m c r + m e r).
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

/// The labelled images of some classes, and those of the others.
struct ClassFold {
  ClassRows kept;
  DoubleMatrix left_out;  // [k, e]
};

/// The images of the `which` classes, renumbered from 0, and the other images.
ClassFold class_fold(const ClassRows& rows, const std::vector<bool>& which) {
  std::vector<int64_t> number(which.size()), kept, left_out;
  int64_t classes = 0;
  for (size_t c = 0; c < which.size(); ++c) number[c] = which[c] ? classes++ : -1;
  for (int64_t i = 0; i < rows.images(); ++i) {
    const int64_t own = rows.label[static_cast<size_t>(i)];
    (which[static_cast<size_t>(own)] ? kept : left_out).push_back(i);
  }
  ClassFold fold{rows.of(kept), rows.x(left_out, Eigen::all)};
  for (int64_t& label : fold.kept.label) label = number[static_cast<size_t>(label)];
  fold.kept.classes = classes;
  return fold;
}

/// Up to five folds of classes, by the squared distances of their means from the middle: an order that neither a
/// rotation nor the order of images or classes changes. One alone where the classes are many enough to tell a spread.
std::vector<ClassFold> class_folds(const ClassRows& rows) {
  constexpr int64_t kParts = 5, kManyClasses = 25;
  const DoubleMatrix means = rows.means();
  const DoubleVector far = (means.rowwise() - means.colwise().mean()).rowwise().squaredNorm();
  std::vector<int64_t> order(static_cast<size_t>(rows.classes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return far[a] < far[b]; });
  const int64_t parts = std::min(kParts, rows.classes);
  std::vector<ClassFold> folds;
  for (int64_t part = 0; part < (rows.classes > kManyClasses ? 1 : parts); ++part) {
    std::vector<bool> which(order.size(), true);
    for (size_t i = 0; i < order.size(); ++i) {
      if (static_cast<int64_t>(i) % parts == part) which[static_cast<size_t>(order[i])] = false;
    }
    folds.push_back(class_fold(rows, which));
  }
  return folds;
}

/// How far apart the log predictives of an image lie for classes that it is not of: each fold's images in the space
/// that `axes` makes of the other classes. 0 if there are fewer than three classes.
double spread_of_scores(const ClassRows& rows, const std::function<AdaptedAxes(const ClassRows&)>& axes) {
  constexpr int64_t kFewest = 3;
  if (rows.classes < kFewest) return 0;
  ScoreSpread spread;
  for (const ClassFold& fold : class_folds(rows)) {
    const AdaptedAxes made = axes(fold.kept);
    const DoubleVector count = fold.kept.count();
    const DiagonalClasses classes(made.space, count, count.asDiagonal() * made.place(fold.kept.means()).x);
    const DoubleMatrix scores = classes.linear_scores(made.place(fold.left_out).x);
    for (int64_t i = 0; i < scores.rows(); ++i) spread.add(scores.row(i).data(), scores.cols());
  }
  return spread.value();
}

/// Images left out in folds (image_folds), each answered in a space made of the others. Leaving out one image alone
/// would not do: its class would have a worse mean than the others.
class LeftOutFolds {
 public:
  /// `least`: images of a class of which some are left out.
  LeftOutFolds(const ClassRows& rows, int64_t least) : rows_(rows) {
    for (const ImageFold& fold : image_folds(distances(), rows.label, rows.classes, least)) {
      if (fold.left_out.empty()) continue;
      kept_.push_back(rows.of(fold.kept));
      left_out_.push_back(fold.left_out);
    }
  }

  /// Those kept, of each fold.
  [[nodiscard]] const std::vector<ClassRows>& kept() const { return kept_; }
  /// The scale that makes probabilities of log predictives, where `axes` gives each fold's space. The losses are in the
  /// order of the images. Nothing if no image is left out.
  [[nodiscard]] std::optional<ScaledLoss> scale(const std::function<AdaptedAxes(size_t fold)>& axes,
                                                const ScalePrior& prior = {}) const;

 private:
  [[nodiscard]] std::vector<double> distances() const;

  const ClassRows& rows_;
  std::vector<ClassRows> kept_;
  std::vector<std::vector<int64_t>> left_out_;
};

/// Squared distances of images from the means of their classes, [m]; those of a class of two images are equal, so
/// theirs are from the mean of the class means, or else rounding would say which fold an image is in.
std::vector<double> LeftOutFolds::distances() const {
  const DoubleMatrix means = rows_.means();
  const Eigen::RowVectorXd middle = means.colwise().mean();
  const DoubleVector count = rows_.count();
  std::vector<double> distances;
  for (int64_t i = 0; i < rows_.images(); ++i) {
    const int64_t own = rows_.label[static_cast<size_t>(i)];
    distances.push_back(count[own] == 2 ? (rows_.x.row(i) - middle).squaredNorm()
                                        : (rows_.x.row(i) - means.row(own)).squaredNorm());
  }
  return distances;
}

std::optional<ScaledLoss> LeftOutFolds::scale(const std::function<AdaptedAxes(size_t fold)>& axes,
                                              const ScalePrior& prior) const {
  if (kept_.empty()) return std::nullopt;
  std::vector<DoubleMatrix> scores;
  std::vector<std::pair<int64_t, const double*>> answered;  // the images, and where their scores are
  for (size_t fold = 0; fold < kept_.size(); ++fold) {
    const AdaptedAxes made = axes(fold);
    const DoubleVector count = kept_[fold].count();
    const DiagonalClasses classes(made.space, count, count.asDiagonal() * made.place(kept_[fold].means()).x);
    scores.push_back(classes.linear_scores(made.place(rows_.x(left_out_[fold], Eigen::all)).x));
    for (size_t i = 0; i < left_out_[fold].size(); ++i)
      answered.emplace_back(left_out_[fold][i], scores.back().row(static_cast<int64_t>(i)).data());
  }
  std::sort(answered.begin(), answered.end());
  std::vector<double> logs;
  std::vector<int64_t> labels;
  for (const auto& [image, own] : answered) {
    logs.insert(logs.end(), own, own + rows_.classes);
    labels.push_back(rows_.label[static_cast<size_t>(image)]);
  }
  return most_likely_scale(logs, labels, rows_.classes, prior);
}

/// Whether the folds' spaces are too unlike that of all images for their scale: it would be up to 20 points too unsure.
bool has_few_images(const ClassRows& rows) {
  constexpr double kFewImages = 4;
  return rows.count().mean() < kFewImages;
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
  all.whitening.directions = complete_basis(whitening.directions);
  all.whitening.along.conservativeResize(dims);
  all.whitening.along.tail(dims - own).setConstant(whitening.across);
  all.space.between.conservativeResize(dims);
  all.space.between.tail(dims - own).setConstant(space.rest_between);
  all.space.rest_dims -= static_cast<double>(dims - own);
  return all;
}

AdaptedSpace isotropic_space(const ClassRows& rows, double dims, const PldaAdaptation& adaptation) {
  const double weight = class_mean_weight(adaptation, rows.images(), rows.classes);
  const double usual = isotropic_degrees(adaptation, dims, rows.images(), rows.classes);
  const int64_t fewest = fewest_of_folds(static_cast<int64_t>(rows.count().maxCoeff()));
  const LeftOutFolds folds(rows, fewest);
  std::vector<Followed> followed;
  for (const ClassRows& kept : folds.kept()) followed.push_back(follow_isotropic(kept, dims, weight));
  const bool halves = fewest < kFewestOfFolds;
  const auto answers = [&](double nu) {
    return folds.scale([&](size_t fold) { return isotropic_axes(followed[fold], nu, dims); }, scale_prior(halves));
  };
  const bool fixed = adaptation.fixed_degrees > 0;
  auto [degrees, left_out] = fixed ? ChosenDegrees{usual, answers(usual)} : choose_isotropic_degrees(usual, answers);
  AdaptedSpace result;
  result.left_out = std::move(left_out);
  if (has_few_images(rows)) {
    const double spread = spread_of_scores(rows, [&, nu = degrees](const ClassRows& kept) {
      return isotropic_axes(follow_isotropic(kept, dims, weight), nu, dims);
    });
    const double images = rows.count().mean();
    const double scale = result.left_out ? scale_of_few(*result.left_out, images, spread, rows.classes)
                                         : scale_of_one(spread, rows.classes);
    if (halves || !result.left_out) result.left_out = ScaledLoss{};
    result.left_out->scale = scale;
  }
  const Followed all = follow_isotropic(rows, dims, weight);
  result.axes = isotropic_axes(all, degrees, dims);
  result.nu = degrees;
  result.degrees = degrees + all.scatter.degrees;
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
  const LeftOutFolds folds(rows, 2);
  result.left_out = folds.scale(
      [&](size_t fold) { return fitted_axes(follow_fitted(folds.kept()[fold], adaptation), degrees, between); });
  return result;
}

DoubleVector between_at_hand(const ClassRows& rows, DoubleVector between, int64_t leading,
                             const PldaAdaptation& adaptation) {
  if (adaptation.added_between < 0) return between;
  const int64_t rest = rows.x.cols() - leading;
  const ClassRows others{rows.x.rightCols(rest), rows.label, rows.classes};
  const double fitted = rest > 0 ? between.tail(rest).mean() : 0;
  between.array() +=
      added_between(adaptation, isotropic_sums(others, within_rows(others), static_cast<double>(rest)), fitted);
  return between;
}

bool is_surely_better(const AdaptedSpace& alone, const AdaptedSpace& fitted) {
  // With classes of two images beside larger ones fewer are left out here, and nothing can be compared.
  const bool comparable = !alone.left_out->loss.empty() && alone.left_out->loss.size() == fitted.left_out->loss.size();
  return comparable && surely_less(alone.left_out->loss, fitted.left_out->loss);
}

double batch_trust(double images) { return kBatchTrust * images / (images + kBatchDoubt); }

}  // namespace protocom
