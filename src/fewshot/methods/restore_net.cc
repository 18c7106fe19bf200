#include <torch/torch.h>

#include <cmath>

#include "fewshot/method_definition.h"
#include "protocom/core/error.h"
#include "protocom/core/rng.h"
#include "protocom/fewshot/distances.h"
#include "protocom/fewshot/moments.h"

namespace protocom::methods {
namespace {

struct Options {
  double share = 0.5;
  int64_t steps = 2000;
  int64_t batch = 128;
  double learning_rate = 1e-3;
};

/// Names of the restorer's parameters in a state.
constexpr const char* kNames[] = {"hidden.weight", "hidden.bias", "output.weight", "output.bias"};

/// M of the paper: Linear(d -> d/2), ReLU, Linear(d/2 -> d).
at::Tensor restore(const std::vector<at::Tensor>& m, const at::Tensor& prototypes) {
  return at::linear(at::linear(prototypes, m[0], m[1]).relu(), m[2], m[3]);
}

class RestoreNet : public Method {
 public:
  explicit RestoreNet(Options options) : options_(options) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext&) const override {
    return std::make_unique<Restored>(restorer_, options_.share);
  }

  void fit(const FitInputs& inputs) override;
  [[nodiscard]] MethodState state() const override;
  void load(const MethodState& state) override;

 private:
  class Restored : public Scorer {
   public:
    Restored(std::vector<at::Tensor> restorer, double share) : restorer_(std::move(restorer)), share_(share) {}

    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const at::Tensor mean = mean_prototypes(statistics_of(batch));  // [b, n, d]
      if (mean.size(-1) != restorer_[0].size(1))
        fail("'restore-net' was fitted on features of {} dimensions, these have {}", restorer_[0].size(1),
             mean.size(-1));
      const at::Tensor prototypes = (1 - share_) * mean + share_ * restore(restorer_, mean);
      return {-squared_distances(batch.query, prototypes), prototypes};
    }

   private:
    std::vector<at::Tensor> restorer_;
    double share_;
  };

  Options options_;
  std::vector<at::Tensor> restorer_;  // in the order of kNames
};

std::vector<at::Tensor> untrained(int64_t dim, uint64_t seed) {
  torch::manual_seed(seed);
  const torch::nn::Linear hidden(dim, std::max<int64_t>(1, dim / 2));
  const torch::nn::Linear output(std::max<int64_t>(1, dim / 2), dim);
  return {hidden->weight, hidden->bias, output->weight, output->bias};
}

/// The layers take and give features `scale` times as long as those they were trained on.
void fold_scale(std::vector<at::Tensor>& m, double scale) {
  const at::NoGradGuard no_grad;
  m[0] = m[0].detach() / scale;
  m[1] = m[1].detach();
  m[2] = m[2].detach() * scale;
  m[3] = m[3].detach() * scale;
}

void RestoreNet::fit(const FitInputs& inputs) {
  const at::AutoGradMode with_gradients(true);
  const int64_t classes = inputs.base.labels.max().item<int64_t>() + 1;
  const double rms = std::sqrt(inputs.base.features.square().mean(at::kDouble).item<double>());
  if (rms == 0) fail("all features of the base classes are zero");
  const at::Tensor features = inputs.base.features / rms;
  const at::Tensor centres = class_moments(features, inputs.base.labels, classes).mean().to(at::kFloat);
  restorer_ = untrained(features.size(1), inputs.seed);
  torch::optim::Adam optimizer(restorer_, torch::optim::AdamOptions(options_.learning_rate));
  Rng rng(inputs.seed);
  inputs.progress->start("restore-net", options_.steps);
  for (int64_t step = 0; step < options_.steps; ++step) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < options_.batch; ++i) rows.push_back(static_cast<int64_t>(rng.below(features.size(0))));
    const at::Tensor index = at::tensor(rows, at::kLong);
    const at::Tensor target = centres.index_select(0, inputs.base.labels.index_select(0, index));
    optimizer.zero_grad();
    const at::Tensor loss = (restore(restorer_, features.index_select(0, index)) - target).square().sum(1).mean();
    loss.backward();
    optimizer.step();
    if ((step + 1) % 100 == 0) inputs.progress->advance(step + 1, fmt::format("loss {:.4f}", loss.item<double>()));
  }
  inputs.progress->finish();
  fold_scale(restorer_, rms);
}

MethodState RestoreNet::state() const {
  MethodState state;
  for (size_t i = 0; i < restorer_.size(); ++i) state.tensors.emplace_back(kNames[i], restorer_[i]);
  return state;
}

void RestoreNet::load(const MethodState& state) {
  std::vector<at::Tensor> restorer;
  for (const char* name : kNames) restorer.push_back(state.at(name).to(at::kFloat));
  const int64_t dim = restorer[0].dim() == 2 ? restorer[0].size(1) : 0;
  const int64_t hidden = restorer[1].numel();
  if (restorer[0].sizes() != at::IntArrayRef({hidden, dim}) || restorer[2].sizes() != at::IntArrayRef({dim, hidden}) ||
      restorer[3].sizes() != at::IntArrayRef({dim}))
    fail("the tensors of 'restore-net' do not fit one another");
  restorer_ = std::move(restorer);
}

}  // namespace

MethodDefinition restore_net() {
  MethodSpec spec;
  spec.name = "restore-net";
  spec.about = "prototypes moved by a network that was trained to move images to their class’s centre";
  spec.citation = "Xue, Wang: One-Shot Image Classification by Learning to Restore Prototypes, AAAI 2020";
  spec.needs = {Need::kFitting};
  spec.notes =
      "Fitted on features of one scale (root mean square 1, folded into the weights) by Adam, which the paper leaves "
      "open. Nearest prototype by squared Euclidean distance.";
  return define<RestoreNet>(
      std::move(spec), Parameters<Options>()
                           .real("share", &Options::share, {0, 1}, "of the restored prototype; the rest is the mean")
                           .whole("steps", &Options::steps, {1}, "of fitting")
                           .whole("batch", &Options::batch, {1}, "base images a step")
                           .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam"));
}

}  // namespace protocom::methods
