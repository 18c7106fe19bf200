#include <ATen/ATen.h>

#include "fewshot/feature_space.h"
#include "fewshot/method_definition.h"
#include "fewshot/rectified_prototypes.h"
#include "protocom/fewshot/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 0.7;
  int64_t neighbours = 2;
  int64_t steps = 20;
  std::string prototypes = "rectified";
  std::string transform = "cl2n";
};

/// Sums, for each of `from` [b, q, d], rows of y [b, u, n] over its nearest of `to` [b, u, d].
class Neighbours {
 public:
  Neighbours(const at::Tensor& from, const at::Tensor& to, int64_t count) {
    at::Tensor distances = squared_distances(from, to);
    const bool same = from.is_same(to);
    if (same) distances.diagonal(0, 1, 2).fill_(std::numeric_limits<float>::infinity());
    count_ = std::min(count, to.size(1) - (same ? 1 : 0));
    if (count_ > 0) index_ = std::get<1>(distances.topk(count_, -1, /*largest=*/false, /*sorted=*/false));
  }

  [[nodiscard]] at::Tensor sum(const at::Tensor& y) const {
    if (count_ <= 0) return at::zeros({1}, y.options());
    const int64_t b = y.size(0);
    const int64_t n = y.size(2);
    const at::Tensor rows = index_.reshape({b, -1, 1}).expand({-1, -1, n});  // [b, q * count, n]
    return y.gather(1, rows).view({b, -1, count_, n}).sum(2);
  }

 private:
  at::Tensor index_;  // [b, q, count]
  int64_t count_ = 0;
};

class LaplacianShot : public Method {
 public:
  explicit LaplacianShot(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<Smoothed>(options_, context);
  }

 private:
  class Smoothed : public SpaceScorer {
   public:
    Smoothed(const Options& options, const MethodContext& context)
        : SpaceScorer(options.transform, context), options_(options) {}

    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const EpisodePoints points = episode_points(batch);
      const at::Tensor prototypes = prototypes_of(points);
      const at::Tensor x = points.unlabelled_of(points.features);
      const at::Tensor alone = -squared_distances(x, prototypes);  // -a of the paper, [b, u, n]
      const Neighbours near(x, x, options_.neighbours);
      at::Tensor logits = alone;
      at::Tensor y = alone.softmax(-1);
      for (int64_t step = 0; step < options_.steps; ++step) {
        logits = alone + options_.lambda * near.sum(y);
        y = logits.softmax(-1);
      }
      if (!batch.unlabelled.defined()) return {logits, at::Tensor()};
      const at::Tensor query = points.queries_of(points.features);
      const Neighbours of_query(query, x, options_.neighbours);
      return {-squared_distances(query, prototypes) + options_.lambda * of_query.sum(y), at::Tensor()};
    }

   private:
    [[nodiscard]] at::Tensor prototypes_of(const EpisodePoints& points) const {
      if (options_.prototypes == "rectified") return rectified_prototypes(points, {});
      return at::matmul(points.labels.transpose(1, 2), points.features) / points.shots().unsqueeze(-1);
    }

    Options options_;
  };

  Options options_;
};

}  // namespace

MethodDefinition laplacian_shot() {
  MethodSpec spec;
  spec.name = "laplacian-shot";
  spec.about = "nearest prototype, with neighbouring queries pulled to the same class";
  spec.citation = "Ziko, Dolz, Granger, Ben Ayed: Laplacian Regularized Few-Shot Learning, ICML 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures, Need::kSupportImages};
  spec.notes =
      "Equations 6 to 8, always all steps. Prototypes are rectified as in bd-cspn (variant mean), as the authors do; "
      "Veilleux et al. (NeurIPS 2021) leave that out where queries are unbalanced: prototypes=mean. The authors choose "
      "lambda on val among .1, .3, .5, .7, .8, 1, 1.2, 1.5.";
  return define<LaplacianShot>(
      std::move(spec), Parameters<Options>()
                           .real("lambda", &Options::lambda, {}, "pull of each neighbour")
                           .whole("neighbours", &Options::neighbours, {1, 1e6}, "nearest others of a query")
                           .whole("steps", &Options::steps, {0, 1e5}, "updates of all assignments")
                           .choice("prototypes", &Options::prototypes, {"rectified", "mean"}, "of the supports")
                           .choice("transform", &Options::transform, FeatureSpace::names(), FeatureSpace::kText));
}

}  // namespace protocom::methods
