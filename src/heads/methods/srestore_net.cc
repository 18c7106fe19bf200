#include "fewshot/trained/srestore_net.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "heads/batch_method.h"
#include "heads/detail/restorer.h"
#include "heads/detail/trained_makers.h"
#include "heads/distances.h"

namespace protocom::methods {
namespace {

/// Returns the mean of each prototype [b, n, d] and the `count` unlabelled images [b, u, d] nearest to it.
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
  explicit SRestoreNet(SRestoreNetOptions options) : options_(options) {}

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
  SRestoreNetOptions options_;
  Restorer restorer_;
};

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_srestore_net(const SRestoreNetOptions& options) {
  return std::make_unique<methods::SRestoreNet>(options);
}
