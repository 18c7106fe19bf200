#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "fewshot/toolbox/dense_layer.h"
#include "fewshot/toolbox/rectified_prototypes.h"
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

/// Which of each row's columns are its smallest `count`, as 1 among 0; of equals the first.
at::Tensor smallest_of_each_row(const at::Tensor& values, int64_t count) {
  const at::Tensor rows = values.contiguous();
  const int64_t columns = rows.size(2);
  at::Tensor chosen = at::zeros_like(rows);
  std::vector<std::pair<float, int64_t>> smallest;  // a heap, the largest of them on top
  for (int64_t i = 0; i < rows.size(0) * rows.size(1); ++i) {
    const float* row = rows.data_ptr<float>() + i * columns;
    smallest.clear();
    for (int64_t k = 0; k < columns; ++k) {
      if (k >= count) {
        if (row[k] >= smallest.front().first) continue;
        std::pop_heap(smallest.begin(), smallest.end());
        smallest.pop_back();
      }
      smallest.emplace_back(row[k], k);
      std::push_heap(smallest.begin(), smallest.end());
    }
    for (const auto& [value, k] : smallest) chosen.data_ptr<float>()[i * columns + k] = 1;
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
                             .tries({"l2n"}));
}

}  // namespace protocom::methods
