#include <torch/torch.h>

#include <cmath>

#include "fewshot/heads/training_tasks.h"
#include "fewshot/method_definition.h"
#include "fewshot/toolbox/expect_tensor.h"
#include "fewshot/toolbox/map_space.h"
#include "fewshot/toolbox/step_training.h"
#include "fewshot/toolbox/unit_space.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/toolbox/cosine_classifier.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom::methods {
namespace {

constexpr double kFirstScale = 10;
constexpr int64_t kRounds = 10;  // of twenty held-out tasks

struct Options {
  std::string mixing = "learned";
  int64_t groups = 4;
  int64_t codewords = 4;
  int64_t batch = 64;
  int64_t steps = 600;
  double learning_rate = 1e-3;
};

/// Local features summed by codeword within each group of channels, the map's compositional feature.
class Aggregation : public FeatureMap {
 public:
  std::shared_ptr<const MapSpace> space;
  at::Tensor mixing;           // [c, c], of the channels before they are divided
  at::Tensor codewords;        // [g, k, c / g]
  at::Tensor codeword_biases;  // [g, k]

  [[nodiscard]] std::vector<at::Tensor> parameters() const { return {mixing, codewords, codeword_biases}; }

  /// [..., c h w] to [..., k c], at unit length, as is every group of it before.
  [[nodiscard]] at::Tensor map(const at::Tensor& rows) const override {
    const int64_t groups = codewords.size(0);
    const at::Tensor mixed = at::matmul(space->places_of(rows), mixing.t());          // [m, l, c]
    const at::Tensor local = mixed.unflatten(2, {groups, -1}).permute({0, 2, 1, 3});  // [m, g, l, c / g]
    const at::Tensor share =
        (at::matmul(local, codewords.transpose(1, 2)) + codeword_biases.unsqueeze(1)).softmax(-1);  // [m, g, l, k]
    const at::Tensor sums = at::matmul(share.transpose(2, 3), local).flatten(2);                    // [m, g, k c / g]
    const at::Tensor feature = unit_vectors(sums).flatten(1) / std::sqrt(static_cast<double>(groups));
    std::vector<int64_t> sizes = rows.sizes().vec();
    sizes.back() = codewords.size(1) * space->channels();
    return feature.view(sizes);
  }
};

class Cfa : public Method {
 public:
  explicit Cfa(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    aggregation_->space->check(context);
    return std::make_unique<CosineToMean>(aggregation_, log_scale_);
  }
  void fit(const FitInputs& inputs) override;
  [[nodiscard]] std::vector<std::string> findings() const override { return findings_; }
  [[nodiscard]] MethodState state() const override;
  void load(const MethodState& state) override;

 private:
  class CosineToMean : public Scorer {
   public:
    CosineToMean(std::shared_ptr<const Aggregation> aggregation, at::Tensor log_scale)
        : aggregation_(std::move(aggregation)), log_scale_(std::move(log_scale)) {}
    [[nodiscard]] std::shared_ptr<const FeatureMap> feature_map() const override { return aggregation_; }

   private:
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      return {log_scale_.exp() * protocom::cosine_similarity(batch.query, mean_of_supports(batch)), at::Tensor()};
    }

    std::shared_ptr<const Aggregation> aggregation_;
    at::Tensor log_scale_;
  };

  [[nodiscard]] std::shared_ptr<Aggregation> untrained(std::shared_ptr<const MapSpace> space) const;

  Options options_;
  std::shared_ptr<const Aggregation> aggregation_;
  at::Tensor log_scale_;  // []
  std::vector<std::string> findings_;
};

std::shared_ptr<Aggregation> Cfa::untrained(std::shared_ptr<const MapSpace> space) const {
  const int64_t channels = space->channels();
  if (channels % options_.groups != 0)
    fail_usage("'cfa' divides {} channels into equal groups, {} do not go: set `groups`", channels, options_.groups);
  const int64_t width = channels / options_.groups;
  auto made = std::make_shared<Aggregation>();
  made->space = std::move(space);
  made->mixing = at::eye(channels);
  made->codewords = at::randn({options_.groups, options_.codewords, width}) / std::sqrt(static_cast<double>(width));
  made->codeword_biases = at::zeros({options_.groups, options_.codewords});
  for (at::Tensor* one : {&made->codewords, &made->codeword_biases}) one->set_requires_grad(true);
  made->mixing.set_requires_grad(options_.mixing == "learned");
  return made;
}

void Cfa::fit(const FitInputs& inputs) {
  torch::manual_seed(inputs.seed);
  const TrainingClasses classes = training_maps(inputs, spec().name, 2);
  const auto made = untrained(std::make_shared<MapSpace>(inputs.maps));
  aggregation_ = made;
  log_scale_ = at::full({}, std::log(kFirstScale)).requires_grad_();
  at::Tensor weights =
      at::randn({classes.train.classes(), options_.codewords * made->space->channels()}).requires_grad_();
  Rng rng(inputs.seed);
  const auto loss = [&] {
    const ImageDraw drawn = draw_images(classes.train, options_.batch, rng);
    const at::Tensor cosine = at::matmul(made->map(drawn.features), unit_vectors(weights).t());
    return task_loss(log_scale_.exp() * cosine, drawn.places);
  };
  std::function<double()> held_out;
  if (classes.held_out.classes() > 0) {
    held_out = [&] {
      const auto map = [&](const at::Tensor& rows) { return made->map(rows); };
      const ClassImages mapped = mapped_images(classes.held_out, map);
      const CosineToMean scorer(made, log_scale_);
      return accuracy_on_tasks(mapped, {20, 5, 1, 15}, kRounds,
                               [&](const EpisodeBatch& batch) { return scorer.score_mapped(batch).logits; });
    };
  }
  std::vector<at::Tensor> learned = {weights, log_scale_, made->codewords, made->codeword_biases};
  if (made->mixing.requires_grad()) learned.push_back(made->mixing);
  const StepTraining training{spec().name, options_.steps, options_.learning_rate};
  findings_ = train_steps(learned, training, loss, held_out, *inputs.progress).sentences(options_.steps);
}

MethodState Cfa::state() const {
  MethodState state;
  if (aggregation_ == nullptr) return state;
  aggregation_->space->add_to(state);
  state.tensors.emplace_back("mixing", aggregation_->mixing);
  state.tensors.emplace_back("codewords", aggregation_->codewords);
  state.tensors.emplace_back("codeword_biases", aggregation_->codeword_biases);
  state.tensors.emplace_back("log_scale", log_scale_);
  return state;
}

void Cfa::load(const MethodState& state) {
  auto read = std::make_shared<Aggregation>();
  read->space = std::make_shared<MapSpace>(state);
  const int64_t channels = read->space->channels();
  const auto taken = [&](const char* name, std::vector<int64_t> shape) {
    const at::Tensor tensor = state.at(name).to(at::kFloat);
    expect_tensor(tensor, {name, at::kFloat, std::move(shape)});
    return tensor;
  };
  read->mixing = taken("mixing", {channels, channels});
  read->codeword_biases = taken("codeword_biases", {-1, -1});
  const int64_t groups = read->codeword_biases.size(0);
  if (groups < 1 || channels % groups != 0) fail("{} channels cannot be in {} equal groups", channels, groups);
  read->codewords = taken("codewords", {groups, read->codeword_biases.size(1), channels / groups});
  log_scale_ = taken("log_scale", {});
  aggregation_ = read;
}

}  // namespace

MethodDefinition cfa() {
  MethodSpec spec;
  spec.name = "cfa";
  spec.about = "nearest class mean by cosine of local features that are summed by codewords in groups of channels";
  spec.citation =
      "Hu, Sun, Saenko, Sclaroff: Weakly-supervised Compositional Feature Aggregation for Few-shot Recognition, "
      "arXiv 1906.04833, 2019";
  spec.needs = {Need::kFitting, Need::kFeatureMaps, Need::kSupportImages};
  spec.notes =
      "A head on frozen feature maps; the source trains the backbone through it. A group’s local features x are summed "
      "as outer products with their soft shares of codewords, softmax(w x + b), the group brought to unit length, and "
      "all groups put one after the other. Learned on base classes with a cosine classifier, of which a new class’s "
      "weight is the mean of its supports. Frozen channels are in no order that makes groups, so they are first mixed "
      "linearly, from the identity on; that, the numbers of groups and codewords, Adam, and the step chosen on "
      "held-out "
      "classes are ours, since no code of the source is public.";
  return define<Cfa>(std::move(spec),
                     Parameters<Options>()
                         .choice("mixing", &Options::mixing, {"learned", "none"},
                                 "of the channels before they are divided into groups")
                         .when_fitted()
                         .tries({"none"})
                         .whole("groups", &Options::groups, {1}, "of channels; their number must be a multiple of it")
                         .when_fitted()
                         .tries({"1", "8"})
                         .whole("codewords", &Options::codewords, {1}, "a group; 1 is the mean of all places")
                         .when_fitted()
                         .tries({"1", "8"})
                         .whole("batch", &Options::batch, {1}, "base images a step")
                         .when_fitted()
                         .whole("steps", &Options::steps, {1}, "of Adam, at most: the best on held-out classes counts")
                         .when_fitted()
                         .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam")
                         .when_fitted());
}

}  // namespace protocom::methods
