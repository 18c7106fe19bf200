#include "fewshot/plda/detail/foreign_span.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "fewshot/plda/detail/foreign_images.h"
#include "fewshot/plda/detail/foreign_scatter.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/toolbox/detail/gaussian.h"
#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

/// With more labelled images their eigenvectors take longer than a product with the map of the space.
constexpr int64_t kMostLabelled = 256;

/// Queries that are answered together: their rows stay in the second cache.
constexpr int64_t kQueriesTogether = 25;

/// sum log (1 + v)
double volume_of(const Floats& v) {
  std::vector<double> factors;
  for (const float value : v) factors.push_back(1 + static_cast<double>(value));
  return log_of_product(factors);
}

/// The classes of some labelled images, in the space that follows these.
class ForeignClasses {
 public:
  ForeignClasses(const ForeignImages& images, const ForeignScatter& scatter, double nu);

  /// Where the origin is, [dim]: 0 for all labelled images.
  [[nodiscard]] const Floats& origin() const { return origin_; }
  /// Images less the origin, [count, dim], to their places in this space.
  void place(Floats& x) const;
  /// Log predictives [count, n] of images in this space, but for a number for each: x' P u - 1/2 u' P u.
  [[nodiscard]] std::vector<float> linear_scores(const Floats& x) const;

  /// What images vary by in this space, less 1: v around these classes, B around a class never seen.
  [[nodiscard]] const Floats& variance() const { return variance_; }
  [[nodiscard]] const Floats& between() const { return between_; }

 private:
  void place_means(const ForeignScatter& scatter);

  const ForeignImages& images_;
  ForeignWhitening whitening_;
  std::vector<double> count_;  // [n]
  Floats between_;             // [dim]
  Floats variance_;            // [dim], v
  Floats origin_;              // [dim]
  Floats weighted_;            // [n, dim], P u
  std::vector<float> half_;    // [n], 1/2 u' P u
};

std::vector<double> counts_of(const ForeignImages& images, const std::vector<int64_t>& among) {
  std::vector<double> count(images.labels().count.size());
  for (const int64_t i : among) count[static_cast<size_t>(images.labels().labels[static_cast<size_t>(i)])] += 1;
  return count;
}

/// After `count` images.
Floats variance_of_means(const Floats& between, double count) {
  Floats v = between;
  for (float& value : v) value /= 1 + static_cast<float>(count) * value;
  return v;
}

double mean_count(const std::vector<double>& count) {
  return std::accumulate(count.begin(), count.end(), 0.0) / static_cast<double>(count.size());
}

ForeignClasses::ForeignClasses(const ForeignImages& images, const ForeignScatter& scatter, double nu)
    : images_(images),
      whitening_(scatter.whitening(nu)),
      count_(counts_of(images, scatter.among())),
      between_(whitening_.variance(images.between(), images.dim())),
      variance_(variance_of_means(between_, mean_count(count_))),
      origin_(between_.size()) {
  place_means(scatter);
}

void ForeignClasses::place_means(const ForeignScatter& scatter) {
  const int64_t n = images_.labels().classes(), dim = images_.dim();
  weighted_.assign(images_.mean(0), images_.mean(0) + n * dim);
  for (const int64_t i : scatter.among()) {
    const auto own = images_.labels().labels[static_cast<size_t>(i)];
    const double share = 1 / count_[static_cast<size_t>(own)];
    const float* difference = images_.within()[static_cast<size_t>(i)];
    add_scaled_row(static_cast<float>(share), difference, dim, weighted_.data() + own * dim);
    add_scaled_row(static_cast<float>(share * images_.share() / static_cast<double>(n)), difference, dim,
                   origin_.data());
  }
  for (int64_t c = 0; c < n; ++c) add_scaled_row(-1, origin_.data(), dim, weighted_.data() + c * dim);
  place(weighted_);
  Floats u(between_.size());
  for (int64_t c = 0; c < n; ++c) {
    const auto images = static_cast<float>(count_[static_cast<size_t>(c)]);
    float* row = weighted_.data() + c * dim;
    for (size_t j = 0; j < u.size(); ++j) {
      u[j] = row[j] * images * between_[j] / (1 + images * between_[j]);
      row[j] = u[j] / (1 + variance_[j]);
    }
    half_.push_back(row_dot(row, u.data(), dim) / 2);
  }
}

void ForeignClasses::place(Floats& x) const {
  const int64_t dim = images_.dim();
  Floats placed(x.size());
  whitening_.apply(rows_of(x, dim), dim, placed.data());
  x = std::move(placed);
}

std::vector<float> ForeignClasses::linear_scores(const Floats& x) const {
  const std::vector<const float*> rows = rows_of(x, images_.dim());
  const auto count = static_cast<int64_t>(rows.size()), n = static_cast<int64_t>(half_.size());
  std::vector<float> scores(rows.size() * half_.size());
  row_dots({rows.data(), count, weighted_.data(), n, images_.dim(), n}, scores.data());
  for (size_t i = 0; i < scores.size(); ++i) scores[i] -= half_[i % half_.size()];
  return scores;
}

/// By what images come into folds as in scale_by_folds(), [m], but for a number for each class.
std::vector<double> fold_distances(const ForeignImages& images) {
  const int64_t m = images.labels().labelled(), n = images.labels().classes();
  std::vector<double> distances;
  for (int64_t i = 0; i < m; ++i) {
    const auto at = static_cast<size_t>(i);
    const double* products = images.products().row(i);  // of a with all a and class means
    const double with_mean = std::accumulate(products + m, products + m + n, 0.0) / static_cast<double>(n);
    distances.push_back(images.labels().count_of(at) == 2 ? products[m + images.labels().labels[at]] - with_mean
                                                          : products[i]);
  }
  return distances;
}

/// As images left out have it (scale_by_folds); 0: none are.
double scale_by_foreign_folds(const ForeignImages& images, const PldaAdaptation& adaptation, double nu) {
  const std::vector<int64_t>& labels = images.labels().labels;
  std::vector<double> logs;
  std::vector<int64_t> answered;
  for (const ImageFold& fold : image_folds(fold_distances(images), labels, images.labels().classes(), 2)) {
    const ForeignClasses classes(images, ForeignScatter(images, fold.kept, adaptation), nu);
    Floats x;
    for (const int64_t i : fold.left_out) {
      const int64_t own = labels[static_cast<size_t>(i)];
      const float* difference = images.within()[static_cast<size_t>(i)];
      x.insert(x.end(), images.mean(own), images.mean(own) + images.dim());
      float* row = x.data() + x.size() - images.dim();
      add_scaled_row(1, difference, images.dim(), row);
      add_scaled_row(-1, classes.origin().data(), images.dim(), row);
      answered.push_back(own);
    }
    classes.place(x);
    const std::vector<float> scores = classes.linear_scores(x);
    logs.insert(logs.end(), scores.begin(), scores.end());
  }
  return answered.empty() ? 0 : most_likely_scale(logs, answered, images.labels().classes()).scale;
}

/// With as many as dimensions a space of their own may be better.
bool are_few(const SpanLabels& labels, const ForeignRows& space) {
  return labels.labelled() <= kMostLabelled && labels.labelled() - labels.classes() < space.feature_dims();
}

/// Log predictives of the queries [q, n], and of a class never seen [q].
struct ForeignScores {
  std::vector<double> classes, none;
};

ForeignScores scores_of_queries(const ForeignImages& images, const ForeignClasses& classes) {
  const int64_t q = images.queries(), n = images.labels().classes(), dim = images.dim();
  Floats precisions;
  for (const Floats* variance : {&classes.variance(), &classes.between()})
    for (const float v : *variance) precisions.push_back(1 / (1 + v));
  const double constant = static_cast<double>(images.dims()) * kLogTwoPi;
  const double of_classes = constant + volume_of(classes.variance()), of_none = constant + volume_of(classes.between());
  ForeignScores scores;
  for (int64_t begin = 0; begin < q; begin += kQueriesTogether) {
    const int64_t many = std::min(kQueriesTogether, q - begin);
    Floats x(static_cast<size_t>(many * dim)), squares(static_cast<size_t>(2 * many));
    for (int64_t i = 0; i < many; ++i) images.place_query(begin + i, x.data() + i * dim);
    classes.place(x);
    const std::vector<float> linear = classes.linear_scores(x);
    for (float& value : x) value *= value;
    row_dots({rows_of(x, dim).data(), many, precisions.data(), 2, dim, 2}, squares.data());
    for (int64_t i = 0; i < many; ++i) {
      const float* square = squares.data() + 2 * i;
      scores.none.push_back(-0.5 * (of_none + square[1]));
      for (int64_t c = 0; c < n; ++c)
        scores.classes.push_back(linear[static_cast<size_t>(i * n + c)] - 0.5 * (of_classes + square[0]));
    }
  }
  return scores;
}

}  // namespace

std::optional<EpisodeScores> answer_in_foreign_space(const ForeignEpisode& episode, const ForeignRows& space,
                                                     const PldaModel& model, double scale) {
  const SpanLabels& labels = episode.labels;
  if (!are_few(labels, space) || *std::min_element(labels.count.begin(), labels.count.end()) == 0) return std::nullopt;
  const std::optional<ForeignImages> images = ForeignImages::of(episode, space, model.adaptation);
  if (!images) return std::nullopt;
  std::vector<int64_t> all(labels.labels.size());
  std::iota(all.begin(), all.end(), 0);
  const ForeignScatter scatter(*images, all, model.adaptation);
  const double count = mean_count(labels.count);
  EpisodeScale factors;
  factors.known = model.inductive_scale.at(count);
  factors.by_best = model.known_by_best;
  factors.chance = {model.known_slope.at(count), model.known_offset.at(count), model.known_alike.at(count)};
  double nu = model.adaptation.degrees;
  if (scatter.whitens()) {
    nu = scatter.degrees(nu);
    const double found = scale_by_foreign_folds(*images, model.adaptation, nu);
    if (found > 0) factors.known = factors.chance.slope = found;
  }
  factors.logits = scale > 0 ? scale : factors.known;
  const ForeignScores scores = scores_of_queries(*images, ForeignClasses(*images, scatter, nu));
  return scaled_scores(scores.classes, scores.none, labels.classes(), factors);
}

std::optional<EpisodeScores> answer_in_foreign_space(const EpisodeBatch& episode, const ForeignRows& space,
                                                     const PldaModel& model, double scale) {
  std::optional<SpanLabels> labels = span_labels(episode);
  if (!labels || !are_few(*labels, space)) return std::nullopt;
  const at::Tensor support = space.map(episode.support.flatten(0, 2)), query = space.map(episode.query.squeeze(0));
  ForeignEpisode rows{std::move(*labels), {}};
  for (const int64_t i : rows.labels.there) rows.rows.push_back(support.data_ptr<float>() + i * space.width());
  for (int64_t i = 0; i < query.size(0); ++i) rows.rows.push_back(query.data_ptr<float>() + i * space.width());
  return answer_in_foreign_space(rows, space, model, scale);
}

}  // namespace protocom
