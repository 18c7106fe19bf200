#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "fewshot/toolbox/class_kernels.h"
#include "fewshot/toolbox/dense_layer.h"
#include "fewshot/toolbox/rectified_prototypes.h"
#include "fewshot/toolbox/rectified_rows.h"
#include "fewshot/toolbox/row_kernels.h"
#include "fewshot/toolbox/row_products.h"
#include "fewshot/toolbox/space_method.h"
#include "protocom/fewshot/toolbox/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 0.7;
  int64_t neighbours = 2;
  int64_t steps = 20;
  std::string prototypes = "rectified";
  std::string queries = "moved";
  std::string transform = "cl2n";
};

/// Finds the smallest of a row, of equals the first.
class Smallest {
 public:
  /// The places of `count` of them, at least 1 and at most `columns`.
  void place(const float* row, int64_t columns, int64_t count, int32_t* places) {
    values_.assign(static_cast<size_t>(count), std::numeric_limits<float>::max());
    float worst = values_.back();
    for (int64_t k = 0; k < columns; ++k) {
      if (k >= count && row[k] >= worst) continue;
      int64_t at = std::min(k, count - 1);
      for (; at > 0 && row[k] < values_[static_cast<size_t>(at - 1)]; --at) {
        values_[static_cast<size_t>(at)] = values_[static_cast<size_t>(at - 1)];
        places[at] = places[at - 1];
      }
      values_[static_cast<size_t>(at)] = row[k];
      places[at] = static_cast<int32_t>(k);
      worst = values_.back();
    }
  }

 private:
  std::vector<float> values_;  // in their order
};

/// Which of each row's columns are its smallest `count`, as 1 among 0.
at::Tensor smallest_of_each_row(const at::Tensor& values, int64_t count) {
  const at::Tensor rows = values.contiguous();
  const int64_t columns = rows.size(2);
  at::Tensor chosen = at::zeros_like(rows);
  Smallest smallest;
  std::vector<int32_t> places(static_cast<size_t>(count));
  for (int64_t i = 0; i < rows.size(0) * rows.size(1); ++i) {
    smallest.place(rows.data_ptr<float>() + i * columns, columns, count, places.data());
    for (const int32_t k : places) chosen.data_ptr<float>()[i * columns + k] = 1;
  }
  return chosen;
}

/// Sums, for each of `from` [b, q, d], values of its nearest of `to` [b, u, d].
class Neighbours {
 public:
  Neighbours(const at::Tensor& from, const at::Tensor& to, int64_t count) {
    const bool same = from.is_same(to);
    at::Tensor distances = same ? among(to) : squared_distances(from, to);
    count = std::min(count, to.size(1) - (same ? 1 : 0));
    if (count > 0 && from.size(1) > 0) layers_ = DenseLayers(smallest_of_each_row(distances, count));
  }

  /// y [b, n, u] -> [b, n, q]
  [[nodiscard]] at::Tensor sum(const at::Tensor& y) const {
    return layers_.empty() ? at::zeros({1}, y.options()) : layers_.apply(y);
  }

 private:
  /// Distances of all to one another, up to a constant of each row; infinite to themselves.
  static at::Tensor among(const at::Tensor& x) {
    const at::Tensor inner = row_gram(x).slice(2, 0, x.size(1));
    at::Tensor distances = inner.diagonal(0, 1, 2).unsqueeze(1) - 2 * inner;
    distances.diagonal(0, 1, 2).fill_(std::numeric_limits<float>::infinity());
    return distances;
  }

  DenseLayers layers_;
};

at::Tensor prototypes_of(const EpisodePoints& points, const Options& options) {
  if (options.prototypes == "rectified") {
    RectifyOptions rectify;
    rectify.moved_back = options.queries == "moved";  // as far from the queries as the prototypes from moved ones
    return rectified_prototypes(points, rectify);
  }
  return at::matmul(points.labels.transpose(1, 2), points.features) / points.shots().unsqueeze(-1);
}

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const EpisodePoints points = episode_points(batch);
  const at::Tensor prototypes = prototypes_of(points, options);
  const at::Tensor& x = unlabelled_of(batch);
  const auto alone_of = [&](const at::Tensor& images) {  // -a of the paper, [b, n, u]
    return -squared_distances(images, prototypes).transpose(1, 2).contiguous();
  };
  const at::Tensor alone = alone_of(x);
  const Neighbours near(x, x, options.neighbours);
  at::Tensor logits = alone;
  at::Tensor y = alone.softmax(1);
  for (int64_t step = 0; step < options.steps; ++step) {
    logits = at::add(alone, near.sum(y), options.lambda);
    y = logits.softmax(1);
  }
  if (!batch.unlabelled.defined()) return {logits.transpose(1, 2), at::Tensor()};
  const Neighbours of_query(batch.query, x, options.neighbours);
  return {(alone_of(batch.query) + options.lambda * of_query.sum(y)).transpose(1, 2), at::Tensor()};
}

/// The same of one episode after the other. What has a number of each unlabelled image lies class by class, [n,
/// stride].
class LaplacianRun : public RowRun {
 public:
  explicit LaplacianRun(const Options& options)
      : options_(options), rectified_({"mean", 10, options.queries == "moved"}) {}

  void answer(const RowEpisode& episode, float* logits) override {
    if (options_.prototypes != "rectified") place_class_means(episode, means_);
    const std::vector<float>& prototypes = options_.prototypes == "rectified" ? rectified_.place(episode) : means_;
    const int64_t n = episode.n, u = episode.unlabelled, first = episode.supports();
    stride_ = padded_length(u);
    by_image_.resize(static_cast<size_t>(std::max(u, episode.queries) * n));
    place_negative_distances(episode, first, u, prototypes, by_image_.data());
    alone_.assign(static_cast<size_t>(n * stride_), 0.0F);
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < u; ++i)
        alone_[static_cast<size_t>(k * stride_ + i)] = by_image_[static_cast<size_t>(i * n + k)];
    }
    place_neighbours(episode);
    update(n, u);
    if (episode.first_query() == first) {  // there is no pool
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t i = 0; i < u; ++i) logits[i * n + k] = logits_[static_cast<size_t>(k * stride_ + i)];
      }
      return;
    }
    place_negative_distances(episode, episode.first_query(), episode.queries, prototypes, logits);
    add_neighbours_of_queries(episode, logits);
  }

 private:
  /// Of each unlabelled image the nearest others.
  void place_neighbours(const RowEpisode& episode) {
    const int64_t u = episode.unlabelled;
    count_ = std::min(options_.neighbours, u - 1);
    near_.resize(static_cast<size_t>(std::max<int64_t>(u * count_, 0)));
    if (count_ < 1) return;
    grow(gram_, u * stride_);
    gram_of_rows({episode.rows.data() + episode.supports(), u, episode.dim, stride_}, gram_.data());
    distances_.resize(static_cast<size_t>(u));
    const float* squares = episode.squares.data() + episode.supports();
    for (int64_t i = 0; i < u; ++i) {
      const float* inner = gram_.data() + i * stride_;
      for (int64_t j = 0; j < u; ++j) distances_[static_cast<size_t>(j)] = squares[j] - 2 * inner[j];
      distances_[static_cast<size_t>(i)] = std::numeric_limits<float>::infinity();
      smallest_.place(distances_.data(), u, count_, near_.data() + i * count_);
    }
  }

  /// Equation 8, all steps.
  void update(int64_t n, int64_t u) {
    logits_ = alone_;
    answers_ = alone_;
    softmax(n);
    for (int64_t step = 0; step < options_.steps; ++step) {
      for (int64_t k = 0; k < n && count_ > 0; ++k) {
        const float* own = answers_.data() + k * stride_;
        for (int64_t i = 0; i < u; ++i) {
          float sum = 0;
          for (int64_t j = 0; j < count_; ++j) sum += own[near_[static_cast<size_t>(i * count_ + j)]];
          const auto at = static_cast<size_t>(k * stride_ + i);
          logits_[at] = alone_[at] + static_cast<float>(options_.lambda) * sum;
        }
      }
      answers_ = logits_;
      softmax(n);
    }
  }

  void softmax(int64_t n) {
    exponentials_of_classes(answers_.data(), n, stride_);
    shares_of_classes(nullptr, answers_.data(), n, stride_);
  }

  void add_neighbours_of_queries(const RowEpisode& episode, float* logits) {
    const int64_t n = episode.n, u = episode.unlabelled, first = episode.supports();
    const int64_t count = std::min(options_.neighbours, u);
    std::vector<int32_t> near(static_cast<size_t>(count));
    distances_.resize(static_cast<size_t>(u));
    for (int64_t i = 0; i < episode.queries; ++i) {
      const auto query = static_cast<size_t>(episode.first_query() + i);
      for (int64_t j = 0; j < u; ++j) {
        const auto other = static_cast<size_t>(first + j);
        const float inner = row_dot(episode.rows[query], episode.rows[other], episode.dim);
        distances_[static_cast<size_t>(j)] =
            std::max(episode.squares[query] + episode.squares[other] - 2 * inner, 0.0F);
      }
      smallest_.place(distances_.data(), u, count, near.data());
      for (int64_t k = 0; k < n; ++k) {
        float sum = 0;
        for (const int32_t j : near) sum += answers_[static_cast<size_t>(k * stride_ + j)];
        logits[i * n + k] += static_cast<float>(options_.lambda) * sum;
      }
    }
  }

  Options options_;
  RectifiedRows rectified_;
  int64_t stride_ = 0, count_ = 0;
  std::vector<float> means_, by_image_, gram_, distances_, alone_, logits_, answers_;
  std::vector<int32_t> near_;  // [u, count]
  Smallest smallest_;
};

std::unique_ptr<RowRun> run(const Options& options) { return std::make_unique<LaplacianRun>(options); }

}  // namespace

MethodDefinition laplacian_shot() {
  MethodSpec spec;
  spec.name = "laplacian-shot";
  spec.about = "nearest prototype, with neighbouring queries pulled to the same class";
  spec.citation = "Ziko, Dolz, Granger, Ben Ayed: Laplacian Regularized Few-Shot Learning, ICML 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Equations 6 to 8, always all steps. Prototypes are rectified as in bd-cspn (variant mean), and queries moved by "
      "the difference of the means, as the authors do; Veilleux et al. (NeurIPS 2021) answer about the queries where "
      "they are (queries=unmoved) and do not rectify where these are unbalanced (prototypes=mean). The authors choose "
      "lambda on val among .1, .3, .5, .7, .8, 1, 1.2, 1.5.";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .choice("prototypes", &Options::prototypes, {"rectified", "mean"}, "of the supports")
                             .tries({"mean"})
                             .choice("queries", &Options::queries, {"moved", "unmoved"}, "beside rectified prototypes")
                             .tries({"unmoved"})
                             .real("lambda", &Options::lambda, {}, "pull of each neighbour")
                             .tries({"0.1", "0.3", "0.5", "0.8", "1", "1.2", "1.5"})
                             .whole("neighbours", &Options::neighbours, {1, 1e6}, "nearest others of a query")
                             .tries({"1", "3", "5"})
                             .whole("steps", &Options::steps, {0, 1e5}, "updates of all assignments")
                             .choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText)
                             .tries({"l2n"}),
                         &run);
}

}  // namespace protocom::methods
