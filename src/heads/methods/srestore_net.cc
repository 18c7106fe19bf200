#include <ATen/ATen.h>

#include <algorithm>

#include "fewshot/method_definition.h"
#include "heads/batch_method.h"
#include "heads/detail/restorer.h"
#include "heads/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  int64_t neighbours = 4;
  double share = 0.5;
};

/// Mean of each prototype [b, n, d] and the `count` unlabelled images [b, u, d] nearest to it.
at::Tensor with_neighbours(const at::Tensor& prototypes, const at::Tensor& unlabelled, int64_t count) {
  const int64_t near = std::min(count, unlabelled.size(1));
  if (near == 0) return prototypes;
  const at::Tensor distances = squared_distances(prototypes, unlabelled);          // [b, n, u]
  const at::Tensor nearest = std::get<1>(distances.topk(near, -1, false));         // [b, n, near]
  const at::Tensor chosen = at::zeros_like(distances).scatter_(-1, nearest, 1.0);  // [b, n, u]
  return (prototypes + at::matmul(chosen, unlabelled)) / static_cast<double>(near + 1);
}

class SRestoreNet : public BatchMethod {
 public:
  explicit SRestoreNet(Options options) : options_(options) {}

  [[nodiscard]] BatchScorer scorer(const MethodContext&) const override {
    return {[restorer = restorer_, options = options_](const EpisodeBatch& batch) -> BatchScores {
      const at::Tensor mean = mean_prototypes(statistics_of(batch));  // [b, n, d]
      const at::Tensor near = with_neighbours(mean, unlabelled_of(batch), options.neighbours);
      const at::Tensor prototypes = restorer.restored(near, options.share);
      return {-squared_distances(batch.query, prototypes), prototypes};
    }};
  }

  [[nodiscard]] MethodState state() const override {
    MethodState state;
    StateFields fields = StateFields::writing_to(state);
    if (restorer_.network.hidden_weight.defined()) Restorer(restorer_).fields(fields);
    return state;
  }

  void load(const MethodState& state) override {
    StateFields fields = StateFields::reading_from(state);
    restorer_.fields(fields);
  }

 private:
  Options options_;
  Restorer restorer_;
};

}  // namespace

MethodDefinition srestore_net() {
  MethodSpec spec;
  spec.name = "srestore-net";
  spec.about = "restore-net after each prototype was averaged with the unlabelled images nearest to it";
  spec.citation = "Xue, Wang: One-Shot Image Classification by Learning to Restore Prototypes, AAAI 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kFitting};
  spec.fitted_as = "restore-net";
  spec.notes =
      "Takes the file of `protocom fit --method restore-net`. The unlabelled images are those of the pool, or without "
      "a pool the queries. The prototype counts as one of the images.";
  return define<SRestoreNet>(
      std::move(spec),
      Parameters<Options>()
          .whole("neighbours", &Options::neighbours, {0}, "unlabelled images that each prototype is averaged with")
          .tries({"2", "8"})
          .real("share", &Options::share, {0, 1}, "of the restored prototype; the rest is the mean")
          .tries({"0.3", "0.7"}));
}

}  // namespace protocom::methods
