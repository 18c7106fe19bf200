#include "fewshot/trained/cfa.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "heads/cosine_classifier.h"
#include "heads/detail/map_space.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/unit_space.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom::methods {
namespace {

constexpr double kFirstScale = 10;
constexpr int64_t kRounds = 10;  // of twenty held-out tasks

/// Sums local features by codeword within each group of channels: the map's compositional feature.
class Aggregation : public FeatureTransform {
 public:
  std::shared_ptr<const MapSpace> space;
  at::Tensor mixing;           // [c, c], of the channels before grouping
  at::Tensor codewords;        // [g, k, c / g]
  at::Tensor codeword_biases;  // [g, k]

  [[nodiscard]] std::vector<at::Tensor> parameters() const { return {mixing, codewords, codeword_biases}; }

  [[nodiscard]] int64_t width(int64_t /*dim*/) const override { return codewords.size(1) * space->channels(); }
  void map(const FeatureRows& features, Eigen::Ref<FloatMatrix> rows) const override {
    const at::NoGradGuard no_grad;
    rows = matrix_of<float>(array_of(aggregated(tensor_of(array_of_matrix(features)))));
  }

  /// Maps [..., c h w] to [..., k c], at unit length, after each of its groups has been scaled to unit length.
  [[nodiscard]] at::Tensor aggregated(const at::Tensor& rows) const {
    const int64_t groups = codewords.size(0);
    const at::Tensor mixed = at::matmul(space->places_of(rows), mixing.t());          // [m, l, c]
    const at::Tensor local = mixed.unflatten(2, {groups, -1}).permute({0, 2, 1, 3});  // [m, g, l, c / g]
    const at::Tensor share =
        (at::matmul(local, codewords.transpose(1, 2)) + codeword_biases.unsqueeze(1)).softmax(-1);  // [m, g, l, k]
    const at::Tensor sums = at::matmul(share.transpose(2, 3), local).flatten(2);                    // [m, g, k c / g]
    const at::Tensor feature = unit_vectors(sums).flatten(1) / std::sqrt(static_cast<double>(groups));
    std::vector<int64_t> sizes = rows.sizes().vec();
    sizes.back() = width(sizes.back());
    return feature.view(sizes);
  }
};

/// The learned parameters.
struct Model {
  std::shared_ptr<Aggregation> aggregation = std::make_shared<Aggregation>();
  at::Tensor log_scale;  // []

  void fields(StateFields& fields) {
    Aggregation& own = *aggregation;
    fields.space(own.space);
    const int64_t channels = own.space->channels();
    fields.tensor("mixing", own.mixing, {channels, channels});
    fields.tensor("codeword_biases", own.codeword_biases, {-1, -1});
    const int64_t groups = own.codeword_biases.size(0);
    if (groups < 1 || channels % groups != 0) fail("{} channels cannot be in {} equal groups", channels, groups);
    fields.tensor("codewords", own.codewords, {groups, own.codeword_biases.size(1), channels / groups});
    fields.tensor("log_scale", log_scale, {});
  }
};

/// Returns the logits of features after the aggregation.
at::Tensor logits_of(const at::Tensor& log_scale, const EpisodeBatch& batch) {
  return log_scale.exp() * protocom::cosine_similarity(batch.query, mean_of_supports(batch));
}

class Cfa : public TrainedHead<Model, CfaOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext& context) const override {
    model().aggregation->space->check(context);
    const auto answer = [log_scale = model().log_scale](const EpisodeBatch& batch) -> BatchScores {
      return {logits_of(log_scale, batch), at::Tensor()};
    };
    return {answer, model().aggregation};
  }

 private:
  [[nodiscard]] std::shared_ptr<Aggregation> untrained(std::shared_ptr<const MapSpace> space) const;
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

std::shared_ptr<Aggregation> Cfa::untrained(std::shared_ptr<const MapSpace> space) const {
  const int64_t channels = space->channels();
  if (channels % options().groups != 0)
    fail_usage("'cfa': {} channels cannot be in {} equal groups: set `groups`", channels, options().groups);
  const int64_t width = channels / options().groups;
  auto made = std::make_shared<Aggregation>();
  made->space = std::move(space);
  made->mixing = at::eye(channels);
  made->codewords = at::randn({options().groups, options().codewords, width}) / std::sqrt(static_cast<double>(width));
  made->codeword_biases = at::zeros({options().groups, options().codewords});
  for (at::Tensor* biase : {&made->codewords, &made->codeword_biases}) biase->set_requires_grad(true);
  made->mixing.set_requires_grad(options().mixing == "learned");
  return made;
}

HeadTraining Cfa::begin(const FitInputs& inputs, Rng& rng) {
  const auto classes = std::make_shared<const TrainingClasses>(training_maps(inputs, spec().name, 2));
  const auto made = untrained(std::make_shared<MapSpace>(inputs.maps));
  const at::Tensor log_scale = at::full({}, std::log(kFirstScale)).requires_grad_();
  model() = {made, log_scale};
  const at::Tensor weights =
      at::randn({classes->train.classes(), options().codewords * made->space->channels()}).requires_grad_();
  HeadTraining training{{weights, log_scale, made->codewords, made->codeword_biases}};
  if (made->mixing.requires_grad()) training.parameters.push_back(made->mixing);
  training.loss = [this, classes, made, log_scale, weights, &rng] {
    const ImageDraw drawn = draw_images(classes->train, options().batch, rng);
    const at::Tensor cosine = at::matmul(made->aggregated(drawn.features), unit_vectors(weights).t());
    return task_loss(log_scale.exp() * cosine, drawn.places);
  };
  if (classes->held_out.classes() == 0) return training;
  training.held_out = [classes, made, log_scale] {
    const auto map = [&](const at::Tensor& rows) { return made->aggregated(rows); };
    const ClassImages mapped = mapped_images(classes->held_out, map);
    return accuracy_on_tasks(mapped, {20, 5, 1, 15}, kRounds,
                             [&](const EpisodeBatch& batch) { return logits_of(log_scale, batch); });
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_cfa(const CfaOptions& options) {
  return std::make_unique<methods::Cfa>(options);
}
