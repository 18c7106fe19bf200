#include "fewshot/trained/restore_net.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "heads/detail/restorer.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/distances.h"
#include "heads/moments.h"
#include "tensors/tensors.h"

namespace protocom::methods {
namespace {

class RestoreNet : public TrainedHead<Restorer, RestoreNetOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext&) const override {
    return {[restorer = model(), share = options().share](const EpisodeBatch& batch) -> BatchScores {
      const at::Tensor prototypes = restorer.restored(mean_prototypes(statistics_of(batch)), share);  // [b, n, d]
      return {-squared_distances(batch.query, prototypes), prototypes};
    }};
  }

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

/// Makes the layers take and return features `scale` times as long as those they were trained on.
void fold_scale(TwoLayers& layers, double scale) {
  layers.hidden_weight = layers.hidden_weight / scale;
  layers.output_weight = layers.output_weight * scale;
  layers.output_bias = layers.output_bias * scale;
}

HeadTraining RestoreNet::begin(const FitInputs& inputs, Rng& rng) {
  const at::Tensor images = tensor_of(inputs.base.features), labels = at::tensor(inputs.base.labels, at::kLong);
  const int64_t classes = labels.max().item<int64_t>() + 1;
  const double rms = std::sqrt(images.square().mean(at::kDouble).item<double>());
  if (rms == 0) fail("all features of the base classes are zero");
  const at::Tensor features = images / rms;
  const at::Tensor centres = class_moments(features, labels, classes).mean().to(at::kFloat);
  const int64_t dim = features.size(1);
  model() = {TwoLayers::untrained({dim, std::max<int64_t>(1, dim / 2), dim})};
  HeadTraining training{model().network.parameters()};
  training.loss = [this, features, centres, labels, &rng] {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < options().batch; ++i) rows.push_back(static_cast<int64_t>(rng.below(features.size(0))));
    const at::Tensor index = at::tensor(rows, at::kLong);
    const at::Tensor target = centres.index_select(0, labels.index_select(0, index));
    return (model().network(features.index_select(0, index)) - target).square().sum(1).mean();
  };
  training.then = [this, rms] {
    fold_scale(model().network, rms);
    return std::vector<std::string>();
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_restore_net(const RestoreNetOptions& options) {
  return std::make_unique<methods::RestoreNet>(options);
}
