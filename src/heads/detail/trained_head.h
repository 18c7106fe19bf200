#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "heads/batch_method.h"
#include "heads/detail/state_tensors.h"
#include "heads/detail/two_layers.h"

namespace protocom {

/// How to train a head. The functions must own what they use, except for the head, the inputs and the Rng.
struct HeadTraining {
  std::vector<at::Tensor> parameters;          ///< changed in place
  std::function<at::Tensor()> loss = nullptr;  ///< of one step, on data that it draws
  std::function<double()> held_out = nullptr;  ///< a share of right answers; null: nothing is held out
  std::function<std::vector<std::string>()> then =
      nullptr;  ///< after the last step: more findings; null: nothing to do
};

/// Length and rate of the training.
struct HeadSteps {
  int64_t steps = 0;
  double learning_rate = 0;  ///< of Adam
};

/// Common part of all heads, whatever they learn: see TrainedHead.
class AnyTrainedHead : public BatchMethod {
 public:
  explicit AnyTrainedHead(const HeadSteps& steps) : steps_(steps) {}
  void fit(const FitInputs& inputs) final;
  [[nodiscard]] std::vector<std::string> findings() const final { return findings_; }
  [[nodiscard]] MethodState state() const final;
  void load(const MethodState& state) final;

 protected:
  /// Returns the attributes of the knowledge that the head was fitted with; none for a head that answers without
  /// knowledge.
  [[nodiscard]] const std::vector<std::string>& attributes() const { return attributes_; }

 private:
  /// Makes the untrained model and returns how to train it. LibTorch's generator and `rng` are seeded with the inputs'
  /// seed.
  virtual HeadTraining begin(const FitInputs& inputs, Rng& rng) = 0;
  virtual void write(StateFields fields) const = 0;
  virtual void read(StateFields fields) = 0;

  HeadSteps steps_;
  bool has_model_ = false;
  std::vector<std::string> attributes_;
  std::vector<std::string> findings_;
};

/// A head on frozen features or feature maps: a model that is trained on base classes by steps of Adam, keeping the
/// step that is best on held-out classes. `Model` lists its tensors in `void fields(StateFields&)`; `Options` have
/// `steps` and `learning_rate`.
template <typename Model, typename Options>
class TrainedHead : public AnyTrainedHead {
 public:
  explicit TrainedHead(Options options)
      : AnyTrainedHead({options.steps, options.learning_rate}), options_(std::move(options)) {}

 protected:
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] Model& model() { return model_; }

 private:
  /// Returns the model before its tensors are read.
  [[nodiscard]] virtual Model blank() const { return {}; }
  void write(StateFields fields) const final {
    Model copy = model_;
    copy.fields(fields);
  }
  void read(StateFields fields) final {
    Model read = blank();
    read.fields(fields);
    model_ = std::move(read);
  }

  Options options_;
  Model model_;
};

}  // namespace protocom
