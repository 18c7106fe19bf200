#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "fewshot/detail/row_length.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/dense_layer.h"
#include "fewshot/toolbox/detail/rectified_prototypes.h"
#include "fewshot/toolbox/detail/rectified_rows.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/distances.h"

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
  /// The places of `count` of them, at least 1 and at most `columns`, to `places`.
  void place(const float* row, int64_t columns, int64_t count, int32_t* places) {
    values_.resize(static_cast<size_t>(count));
    float* values = values_.data();
    for (int64_t k = 0; k < count; ++k) insert(row[k], k, k, values, places);
    float most = values[count - 1];
    for (int64_t k = count; k < columns; ++k) {
      if (row[k] >= most) continue;
      insert(row[k], k, count - 1, values, places);
      most = values[count - 1];
    }
  }

 private:
  /// Among `before` that are in their order; what was at that place falls out.
  static void insert(float value, int64_t k, int64_t before, float* values, int32_t* places) {
    int64_t at = before;
    for (; at > 0 && value < values[at - 1]; --at) {
      values[at] = values[at - 1];
      places[at] = places[at - 1];
    }
    values[at] = value;
    places[at] = static_cast<int32_t>(k);
  }

  Floats values_;
};

/// The same for two of a row that is filled up with infinite values; without a branch a value, which none foresees.
void place_two_smallest(const float* row, int64_t columns, int32_t* places) {
  const float most = second_smallest(row, padded_length(columns));
  int32_t smaller = -1;  // there is one at most
  int32_t equal[2] = {0, 0};
  int64_t equals = 0;
  for (int64_t k = 0; k < columns; ++k) {
    if (!(row[k] <= most)) continue;
    const auto place = static_cast<int32_t>(k);
    if (row[k] < most) {
      smaller = place;
    } else if (equals < 2) {
      equal[equals++] = place;
    }
  }
  places[0] = smaller < 0 ? equal[0] : smaller;
  places[1] = smaller < 0 ? equal[1] : equal[0];
}

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

/// The same of one episode after the other, in coefficients of its points. What has a number of each unlabelled image
/// lies class by class, [n, stride].
class LaplacianRun : public RowRun {
 public:
  explicit LaplacianRun(const Options& options)
      : options_(options), rectified_({"mean", 10, options.queries == "moved"}) {}

  void answer(const RowEpisode& episode, float* logits) override {
    const int64_t n = episode.n, first = episode.supports(), queries = episode.first_query();
    span_.place(episode.rows, episode.dim);
    place_mean_coefficients(episode, span_.stride(), means_);
    const bool rectifies = options_.prototypes == "rectified";
    distances_.resize(means_.size());
    span_.place_distances((rectifies ? rectified_.place(episode, span_, means_) : means_).data(), n, distances_.data());
    stride_ = padded_length(episode.unlabelled);
    alone_.assign(static_cast<size_t>(n * stride_), 0.0F);
    for (int64_t k = 0; k < n; ++k) {
      const float* from = distances_.data() + k * span_.stride() + first;
      std::transform(from, from + episode.unlabelled, alone_.data() + k * stride_, std::negate<>());
    }
    place_neighbours(episode);
    update(n, episode.unlabelled);
    if (queries != first) return answer_beside_pool(episode, logits);
    for (int64_t k = 0; k < n; ++k) {
      const float* own = logits_.data() + k * stride_;
      for (int64_t i = 0; i < episode.queries; ++i) logits[i * n + k] = own[i];
    }
  }

 private:
  /// Of each unlabelled image the nearest others.
  void place_neighbours(const RowEpisode& episode) {
    const int64_t u = episode.unlabelled;
    count_ = std::min(options_.neighbours, u - 1);
    if (count_ < 1) return;
    near_.resize(static_cast<size_t>(u * count_));
    for (int64_t i = 0; i < u; ++i) {
      place_to_others(episode, episode.supports() + i);
      to_others_[static_cast<size_t>(i)] = std::numeric_limits<float>::infinity();
      if (count_ == 2) {
        place_two_smallest(to_others_.data(), u, near_.data() + 2 * i);
      } else {
        smallest_.place(to_others_.data(), u, count_, near_.data() + i * count_);
      }
    }
  }

  /// Squared distances of a point to the unlabelled images, less its own square.
  void place_to_others(const RowEpisode& episode, int64_t point) {
    to_others_.resize(static_cast<size_t>(padded_length(episode.unlabelled)), std::numeric_limits<float>::infinity());
    const float* inner = span_.gram() + point * span_.stride() + episode.supports();
    const float* squares = episode.squares.data() + episode.supports();
    float* to = to_others_.data();
    for (int64_t j = 0; j < episode.unlabelled; ++j) to[j] = squares[j] - 2 * inner[j];
  }

  /// Equation 8, all steps.
  void update(int64_t n, int64_t u) {
    logits_ = answers_ = alone_;
    softmax(n);
    for (int64_t step = 0; step < options_.steps; ++step) {
      for (int64_t k = 0; k < n && count_ > 0; ++k) {
        if (count_ == 2) {
          place_logits<2>(k * stride_, u);
        } else {
          place_logits<0>(k * stride_, u);
        }
      }
      answers_ = logits_;
      softmax(n);
    }
  }

  /// Of the class whose row begins at `from`; for kCount neighbours, 0: any number.
  template <int64_t kCount>
  void place_logits(int64_t from, int64_t u) {
    const auto lambda = static_cast<float>(options_.lambda);
    const float* answers = answers_.data() + from;
    const float* alone = alone_.data() + from;
    const int32_t* near = near_.data();
    float* own = logits_.data() + from;
    const int64_t count = kCount > 0 ? kCount : count_;
    for (int64_t i = 0; i < u; ++i, near += count) own[i] = alone[i] + lambda * sum_of(answers, near, count);
  }

  static float sum_of(const float* values, const int32_t* places, int64_t count) {
    float sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += values[places[j]];
    return sum;
  }

  void softmax(int64_t n) {
    exponentials_of_classes(answers_.data(), n, stride_);
    shares_of_classes(nullptr, answers_.data(), n, stride_);
  }

  void answer_beside_pool(const RowEpisode& episode, float* logits) {
    const int64_t n = episode.n, first = episode.first_query();
    const int64_t count = std::min(options_.neighbours, episode.unlabelled);
    std::vector<int32_t> near(static_cast<size_t>(count));
    for (int64_t i = 0; i < episode.queries; ++i) {
      place_to_others(episode, first + i);
      smallest_.place(to_others_.data(), episode.unlabelled, count, near.data());
      for (int64_t k = 0; k < n; ++k) {
        logits[i * n + k] =
            static_cast<float>(options_.lambda) * sum_of(answers_.data() + k * stride_, near.data(), count) -
            distances_[static_cast<size_t>(k * span_.stride() + first + i)];
      }
    }
  }

  Options options_;
  RectifiedSpan rectified_;
  RowSpan span_;
  Smallest smallest_;
  int64_t stride_ = 0, count_ = 0;
  Floats means_, distances_;         // [n, span's stride], coefficients and of all points
  Floats to_others_;                 // [u]
  Floats alone_, logits_, answers_;  // [n, stride]
  std::vector<int32_t> near_;        // [u, count]
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
                             .whole("steps", &Options::steps, {0, 1e5}, "updates of all assignments"),
                         {"l2n"}, &run);
}

}  // namespace protocom::methods
