#pragma once
#include <cstdint>
#include <optional>

#include "heads/protocomnet.h"
#include "networks/backbone.h"
#include "trainers/detail/checkpoint.h"
#include "training/metatrain.h"

namespace protocom {

/// MetatrainInputs, whose encoder is this backbone.
struct JointInputs {
  const PackedImages& images;
  Backbone& backbone;
  CompletionModel* model = nullptr;
  const Knowledge* knowledge = nullptr;
};

/// What is tuned in joint meta-training, backbone and completion model: where they are, how they are written, and how
/// the kept ones come back.
class JointModels {
 public:
  /// `inputs` and `files` must outlive it. `device` is where they are trained.
  JointModels(const JointInputs& inputs, const MetatrainFiles& files, const ProcessGroup& group, c10::Device device);

  [[nodiscard]] Backbone& backbone() const { return inputs_.backbone; }
  [[nodiscard]] CompletionModel* model() const { return inputs_.model; }

  /// The completion network that is trained; null without a model. On the CPU its parameters are the model's weights.
  [[nodiscard]] const ProtoComNet* network() const { return network_ ? &*network_ : nullptr; }
  /// Its parameters, under "network."; none without a model.
  [[nodiscard]] NamedTensors network_tensors() const;
  /// Moves the network, which is trained on a device. The model, which is used on the CPU, gets the weights.
  void move_network(c10::Device device) const;

  /// Writes both as those of `kept_epoch`, with the gamma they had then, which becomes the model's. Process 0 alone
  /// does. Where one cannot be written, both files stay as they were.
  void write(int64_t kept_epoch, double gamma) const;
  /// Reads what was written last and brings it to every process.
  void bring_back() const;
  /// The model's attributes get the mean and std that `base`, features of base images, have (equations 2 and 3).
  /// `classes` has the order of base.class_names.
  void set_statistics(const FeatureSet& base, const KnowledgeTable& classes) const;

 private:
  [[nodiscard]] bool writes_model() const { return !files_.model.empty() && inputs_.model != nullptr; }
  void read() const;
  /// The model gets weights that are on another device.
  void fetch_weights() const;

  const JointInputs& inputs_;
  const MetatrainFiles& files_;
  const ProcessGroup& group_;
  std::optional<ProtoComNet> network_;
};

}  // namespace protocom
