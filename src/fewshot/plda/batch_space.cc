#include "fewshot/plda/detail/batch_space.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/symmetric_eigen.h"
#include "fewshot/plda/detail/class_rows.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/rows.h"
#include "fewshot/plda/detail/scatter.h"
#include "fewshot/plda/detail/vb_rows.h"
#include "fewshot/plda/detail/vb_run.h"
#include "fewshot/row_length.h"
#include "fewshot/toolbox/detail/task_matrix.h"

// A batch in a space that follows its unlabelled images too (batch_scores_following):
//   1. Responsibilities of the classes for the unlabelled images: variational EM in the space of the labelled images
//      (batch_scores, see vb_run.cc). Classes that the labelled images alone make implausible get a handicap.
//   2. Divide the unlabelled images into four parts (parts_of).
//   3. Twice: weight the images by their responsibilities (scatter_weights). For each part, update the within-class
//      covariance S by the scatter of the other parts about the class means (soft_within_rows), map to the space in
//      which S is I (followed_space), and repeat the EM there for the responsibilities of the part (scores_in).
//   4. Without a pool the last responsibilities are the answer. With a pool, EM in the space of all its images
//      (space_of_all) answers the queries.
// A pool for single photos (follow_unlabelled):
//   1. Drop images that are labelled too (not_labelled), and take coordinates in the span of the rest (in_span).
//   2. From three labelled images per class on: the probability of each image to be of one of the classes, which
//      multiplies its weights (chance_of_classes).
//   3. Steps 1 to 3 above.
//   4. The model takes the space of all images (take_space), and its scale of probabilities for single photos is
//      multiplied by K / (K + 1), K labelled images per class.
//   5. Return the images with their weights: they become supports of the class means.
namespace protocom {
namespace {

/// Chosen on val classes of CUB-100 with three encoders and of Tiny-ImageNet-100 (docs/log/plda.md).
constexpr int64_t kFollowingParts = 4, kFollowingRounds = 2;
/// Weight of an unlabelled image relative to a labelled one in the scatter.
constexpr double kScatterWeight = 0.25;
/// Least variance of class means, if a fitted space has none.
constexpr double kLeastVariance = 1e-6;
/// The prior odds that an unlabelled photo is of one of the classes are exp(-1), since folders of unsorted photos
/// contain others. One or two labelled images per class cannot tell which; weighting by them lowers accuracy. Both
/// constants were found on val classes of CUB-100 and base classes of Tiny-ImageNet-100 and the demo, where all photos
/// or half of them are of the classes (docs/log/plda.md).
constexpr double kLogOddsOfClasses = -1, kShotsThatTell = 3;
constexpr double kTiny = 1e-12;
/// At a hundredth of a nat below the plausible bound, a class's responsibility is lower by a factor of e.
constexpr double kHandicapSlope = 100;

/// Returns rows padded with zeros to a multiple of kRowMultiple, as required by the inner loops.
FloatMatrix padded(const DoubleMatrix& rows) {
  FloatMatrix result = FloatMatrix::Zero(rows.rows(), padded_length(rows.cols()));
  result.leftCols(rows.cols()) = rows.cast<float>();
  return result;
}

/// Returns rows whose scatter is sum_jc weight_jc (x_j - m_c)(x_j - m_c)', where m_c is the mean of labelled and
/// weighted images: rows for the x_j about the mean of their classes, and rows for their classes about that mean.
DoubleMatrix soft_within_rows(const BatchTask& task, const DoubleMatrix& x, const DoubleMatrix& weights) {
  const DoubleVector filled = weights.colwise().sum();
  const DoubleVector count = (task.count + filled).cwiseMax(kTiny);
  const DoubleMatrix means = count.cwiseInverse().asDiagonal() * (task.sum + weights.transpose() * x);
  const DoubleVector each = weights.rowwise().sum().cwiseMax(kTiny);
  const DoubleMatrix share = each.cwiseInverse().asDiagonal() * weights;
  DoubleMatrix doubt = -share.transpose() * weights;  // [n, n]
  doubt.diagonal() += filled;
  const EigenRows eigen = eigen_rows(doubt);
  DoubleMatrix rows(x.rows() + means.rows(), x.cols());
  rows.topRows(x.rows()) = each.cwiseSqrt().asDiagonal() * (x - share * means);
  rows.bottomRows(means.rows()) = eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() * (eigen.vectors * means);
  return rows;
}

/// A space in which images of a class have the covariance I and class means diag(between).
struct FollowedSpace {
  DoubleMatrix map;            // [e, e], or
  LowRankWhitening whitening;  // used if `map` is empty
  DoubleVector between;        // [e]

  [[nodiscard]] DoubleMatrix apply(const DoubleMatrix& x) const {
    return map.size() > 0 ? DoubleMatrix(x * map) : whitening.apply(x);
  }
};

/// Works in units in which the covariance of class means is I, so that one eigendecomposition diagonalises both: the
/// answer does not depend on a rotation of the images' span. `rows` are those of the scatter.
FollowedSpace turned_space(const DoubleVector& between, const DoubleMatrix& rows, double weight, double degrees) {
  const DoubleVector unit = between.cwiseSqrt().cwiseInverse();
  const DoubleMatrix scaled = rows * unit.asDiagonal();
  DoubleMatrix sum = scaled.transpose() * scaled;
  sum.diagonal() += degrees * between.cwiseInverse();
  const EigenRows eigen = eigen_rows(sum / (degrees + weight));
  return {unit.asDiagonal() * eigen.vectors.transpose() * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal(),
          {},
          eigen.values.cwiseInverse()};
}

/// Returns the space that follows the images `kept`, counted with their weights. If every dimension has a variance of
/// its own and there are few images, the axes stay, as with labelled images (plda/detail/adapted_axes.h), which avoids
/// an e x e decomposition.
FollowedSpace followed_space(const BatchTask& task, const DoubleMatrix& weights, const std::vector<int64_t>& kept,
                             double degrees) {
  const DoubleMatrix own = weights(kept, Eigen::all);
  const DoubleMatrix rows = soft_within_rows(task, task.unlabelled(kept, Eigen::all), own);
  const double weight = own.sum();
  const DoubleVector between = task.space.between.cwiseMax(kLeastVariance);
  if (!task.own_axes || 2 * rows.rows() > rows.cols()) return turned_space(between, rows, weight, degrees);
  const LowRankWhitening whitening = whitening_of(scatter_of(rows, weight), degrees);
  return {{}, whitening, whitening.variance(between)};
}

/// Returns the answers in a space, for the unlabelled images or for the queries.
DoubleMatrix scores_in(const FollowedSpace& space, const BatchTask& task, bool of_queries, const PldaVbOptions& vb,
                       double scale) {
  BatchTask followed;
  followed.unlabelled = space.apply(task.unlabelled);
  followed.pooled = of_queries;
  if (of_queries) followed.queries = space.apply(task.queries);
  followed.sum = space.apply(task.sum);
  followed.count = task.count;
  followed.space.between = space.between;
  followed.shares = task.shares;
  return batch_scores(followed, vb, scale);
}

/// Returns the weights of unlabelled images in the scatter of each class, [u, n].
DoubleMatrix scatter_weights(const DoubleMatrix& scores, const BatchTask& task) {
  const DoubleMatrix weights = kScatterWeight * softmax(scores);
  return task.chance.size() > 0 ? DoubleMatrix(task.chance.asDiagonal() * weights) : weights;
}

/// Returns the probability of each unlabelled image to be of one of the classes, [u], from the labelled images alone.
/// Empty if there are too few of these.
DoubleVector chance_of_classes(const BatchTask& task, double scale) {
  if (task.count.mean() < kShotsThatTell) return {};
  const PlacedImages images{task.unlabelled, DoubleVector::Zero(task.unlabelled.rows())};
  const DoubleMatrix predictive = DiagonalClasses(task.space, task.count, task.sum).log_predictives(images);
  const DoubleVector ratio = known_ratio(predictive, log_densities_around_zero(task.space, images), scale);
  return 1 / (1 + (-(scale * ratio.array() + kLogOddsOfClasses)).exp());
}

/// Divides the images by rank of their lengths, so that neither their order nor a rotation changes the parts.
std::vector<std::vector<int64_t>> parts_of(const DoubleMatrix& images) {
  const DoubleVector lengths = images.rowwise().squaredNorm();
  std::vector<int64_t> order(static_cast<size_t>(images.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return lengths[a] < lengths[b]; });
  std::vector<std::vector<int64_t>> parts(static_cast<size_t>(std::min<int64_t>(kFollowingParts, images.rows())));
  for (size_t i = 0; i < order.size(); ++i) parts[i % parts.size()].push_back(order[i]);
  return parts;
}

/// Returns the numbers from 0 to below `size` except these.
std::vector<int64_t> all_but(int64_t size, const std::vector<int64_t>& left_out) {
  std::vector<bool> kept(static_cast<size_t>(size), true);
  for (const int64_t i : left_out) kept[static_cast<size_t>(i)] = false;
  std::vector<int64_t> others;
  for (int64_t i = 0; i < size; ++i) {
    if (kept[static_cast<size_t>(i)]) others.push_back(i);
  }
  return others;
}

/// Returns the log responsibilities [u, n] of the unlabelled images after all rounds, each part in a space of the
/// others.
DoubleMatrix scores_by_parts(const BatchTask& task, const PldaVbOptions& vb, double scale) {
  BatchTask unlabelled = task;
  unlabelled.pooled = false;
  DoubleMatrix scores = batch_scores(unlabelled, vb, scale);
  const auto parts = parts_of(task.unlabelled);
  for (int64_t round = 0; round < kFollowingRounds; ++round) {
    const DoubleMatrix weights = scatter_weights(scores, task);
    for (const std::vector<int64_t>& part : parts) {
      const FollowedSpace space = followed_space(task, weights, all_but(weights.rows(), part), vb.degrees);
      scores(part, Eigen::all) = scores_in(space, task, false, vb, scale)(part, Eigen::all);
    }
  }
  return scores;
}

FollowedSpace space_of_all(const BatchTask& task, const DoubleMatrix& scores, double degrees) {
  return followed_space(task, scatter_weights(scores, task), all_but(scores.rows(), {}), degrees);
}

/// The components of images [m, rest] in the dimensions that share a variance, in an orthonormal basis whose first
/// vectors span the images.
struct RestSpan {
  DoubleMatrix coordinates;  // [m, min(m, rest)]
  DoubleMatrix basis;        // [rest, rest]; empty: not requested
};

enum class RestBasis { kNone, kWhole };

RestSpan span_of_rest(const DoubleMatrix& rest, RestBasis basis) {
  const int64_t m = rest.rows(), dims = rest.cols();
  if (m >= dims) return {rest, DoubleMatrix::Identity(dims, dims)};
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(rest.transpose());
  const Eigen::MatrixXd triangle = qr.matrixQR().topRows(m).triangularView<Eigen::Upper>();
  if (basis == RestBasis::kNone) return {triangle.transpose(), {}};
  return {triangle.transpose(), qr.householderQ() * Eigen::MatrixXd::Identity(dims, dims)};
}

/// A task in the coordinates of a model's space, and the basis used for its rest.
struct TaskInSpan {
  BatchTask task;
  DoubleMatrix rest_basis;
  int64_t varied = 0;
};

TaskInSpan in_span(const PldaModel& model, const DoubleVector& count, const DoubleMatrix& sum,
                   const DoubleMatrix& unlabelled, const DoubleMatrix* queries, RestBasis basis) {
  const DoubleVector& between = model.space.between;
  const int64_t dims = between.size(), u = unlabelled.rows(), n = sum.rows();
  const int64_t q = queries != nullptr ? queries->rows() : 0;
  DoubleMatrix rows(u + n + q, dims);
  rows << unlabelled, sum;
  if (queries != nullptr) rows.bottomRows(q) = *queries;
  TaskInSpan result;
  result.varied = varied_dims(between, std::min(model.space.leading, dims));
  const int64_t rest = dims - result.varied;
  RestSpan span = span_of_rest(rows.rightCols(rest), basis);
  DoubleMatrix x(rows.rows(), result.varied + span.coordinates.cols());
  x << rows.leftCols(result.varied), span.coordinates;
  BatchTask& task = result.task;
  task.unlabelled = x.topRows(u);
  task.sum = x.middleRows(u, n);
  task.pooled = queries != nullptr;
  if (task.pooled) task.queries = x.bottomRows(q);
  task.count = count;
  task.own_axes = rest == 0;
  task.space = {between.head(x.cols()), static_cast<double>(dims - x.cols()), rest > 0 ? between[dims - 1] : 0};
  result.rest_basis = std::move(span.basis);
  return result;
}

/// Returns the indices of the images [u, d] that are not also labelled: those would count twice. Features rounded to
/// float16 count as equal.
std::vector<int64_t> not_labelled(const DoubleMatrix& images, const DoubleMatrix& labelled) {
  constexpr double kSame = 1e-3;  // relative to their length
  std::vector<int64_t> others;
  for (int64_t i = 0; i < images.rows(); ++i) {
    const double nearest = (labelled.rowwise() - images.row(i)).rowwise().squaredNorm().minCoeff();
    if (nearest > kSame * kSame * images.row(i).squaredNorm()) others.push_back(i);
  }
  return others;
}

/// Sets the space in which images and the first dimensions of the rest are adapted; in the dimensions that no image
/// reaches, S changes only by its degrees: `growth` is (nu + w u) / nu.
void take_space(const FollowedSpace& followed, double growth, const TaskInSpan& span, PldaSpace& space) {
  const DoubleVector between = space.between;
  const int64_t dims = between.size(), varied = span.varied, first = followed.between.size();
  DoubleMatrix map = DoubleMatrix::Zero(dims, dims);
  map.topLeftCorner(first, first) = followed.apply(DoubleMatrix::Identity(first, first));
  map.diagonal().tail(dims - first).setConstant(std::sqrt(growth));
  DoubleMatrix turn(dims, dims);
  turn << map.topRows(varied), span.rest_basis * map.bottomRows(dims - varied);
  DoubleVector variances(dims);
  variances << followed.between, growth * between.tail(dims - first);
  space.projection = space.projection * turn;
  space.offset = turn.transpose() * space.offset;
  space.between = std::move(variances);
}

}  // namespace

DoubleMatrix vb_handicap(const DoubleMatrix& alone, double plausible) {
  const DoubleVector least = alone.rowwise().maxCoeff().array() + std::log(plausible);
  return kHandicapSlope * (alone.colwise() - least).cwiseMin(0);
}

DoubleMatrix batch_scores(const BatchTask& task, const PldaVbOptions& vb, double scale) {
  const DiagonalClasses alone(task.space, task.count, task.sum);
  const auto handicap = [&](const DoubleMatrix& images) {
    return vb_handicap(scale * alone.linear_scores(images), vb.plausible);
  };
  const int64_t n = task.count.size(), u = task.unlabelled.rows();
  const FloatMatrix rows = padded(task.unlabelled), sum = padded(task.sum);
  const std::vector<const float*> pointers = pointers_to(rows);
  const FloatMatrix prior = FloatMatrix::Zero(n, rows.cols());
  const FloatMatrix variance = padded(task.space.between.transpose().replicate(n, 1));
  const Eigen::VectorXf count = task.count.cast<float>();
  const Eigen::VectorXf log_shares = log_shares_of(task.shares);
  FloatMatrix handicaps;
  PldaVbEpisode episode;
  episode.n = n;
  episode.u = u;
  episode.dim = episode.stride = rows.cols();
  episode.rows = pointers.data();
  episode.count = count.data();
  episode.sum = sum.data();
  episode.prior_mean = prior.data();
  episode.prior_variance = variance.data();
  episode.given_log_share = log_shares.data();
  if (vb.plausible > 0) {
    handicaps = handicap(task.unlabelled).cast<float>();
    episode.handicap = handicaps.data();
  }
  PldaVbRun run(vb);
  FloatMatrix scores(u, n);
  run.run(episode, scores.data());
  if (!task.pooled) return scores.cast<double>();
  FloatMatrix of_queries(task.queries.rows(), n);
  const FloatMatrix queries = padded(task.queries);
  run.score(pointers_to(queries).data(), of_queries.rows(), of_queries.data());
  if (vb.plausible > 0) return of_queries.cast<double>() + handicap(task.queries);
  return of_queries.cast<double>();
}

DoubleMatrix batch_scores_following(const BatchTask& task, const PldaVbOptions& vb, double scale) {
  const DoubleMatrix scores = scores_by_parts(task, vb, scale);
  if (!task.pooled) return scores;
  return scores_in(space_of_all(task, scores, vb.degrees), task, true, vb, scale);
}

std::vector<const float*> unlabelled_rows(const Task& task) {
  return {task.rows.begin() + task.supports(), task.rows.begin() + task.learned()};
}

std::vector<double> shares_of(const Task& task) {
  if (task.shares.empty())
    fail_usage("'plda-vb:proportions=given' needs the classes' shares of the unlabelled images, and none are known");
  return {task.shares.begin(), task.shares.end()};
}

BatchTask batch_task_of(const PldaModel& model, const DoubleVector& count, const DoubleMatrix& sum,
                        const DoubleMatrix& unlabelled, const DoubleMatrix* queries) {
  return in_span(model, count, sum, unlabelled, queries, RestBasis::kNone).task;
}

SoftSupports follow_unlabelled(PldaModel& model, const DoubleMatrix& features, const std::vector<int64_t>& labels,
                               int64_t classes) {
  const Array given = std::exchange(model.unlabelled, Array());
  if (given.size(1) != features.cols())
    fail("unlabelled images have features of {} dimensions, labelled ones of {}: extract both with the same encoder",
         given.size(1), features.cols());
  const DoubleMatrix all = matrix_of<float>(given).cast<double>();
  const DoubleMatrix unlabelled = all(not_labelled(all, features), Eigen::all);
  if (unlabelled.rows() == 0 || !(model.vb.degrees > 0)) return {};
  const ClassRows labelled{model.space.transform(features), labels, classes};
  const DoubleVector count = labelled.count();
  TaskInSpan span =
      in_span(model, count, labelled.sums(), model.space.transform(unlabelled), nullptr, RestBasis::kWhole);
  span.task.chance = chance_of_classes(span.task, model.inductive_scale.five);
  const DoubleMatrix scores = scores_by_parts(span.task, model.vb, model.transductive_scale.five);
  const double counted = scatter_weights(scores, span.task).sum();
  take_space(space_of_all(span.task, scores, model.vb.degrees), 1 + counted / model.vb.degrees, span, model.space);
  model.residual = model.space.between;
  const double shots = count.mean(), trust = shots / (shots + 1);
  model.inductive_scale = {trust * model.inductive_scale.none, trust * model.inductive_scale.one,
                           trust * model.inductive_scale.five};
  DoubleMatrix weights = unlabelled_weight(static_cast<float>(count.sum()), classes, model.vb) * softmax(scores);
  if (span.task.chance.size() > 0) weights = span.task.chance.asDiagonal() * weights;
  return {unlabelled.cast<float>(), weights.cast<float>()};
}

}  // namespace protocom
