#pragma once
#include <cstdint>
#include <optional>

#include "heads/protocomnet.h"
#include "networks/backbone.h"
#include "trainers/detail/checkpoint.h"
#include "training/metatrain.h"

namespace protocom {

/// MetatrainInputs whose encoder is this backbone.
struct JointInputs {
  const PackedImages& images;
  Backbone& backbone;
  CompletionModel* model = nullptr;
  const Knowledge* knowledge = nullptr;
};

/// Models that joint meta-training tunes, backbone and completion model: moves them, writes them, and restores the kept
/// ones.
class JointModels {
 public:
  /// `inputs` and `files` must outlive it. `device` is the one that trains.
  JointModels(const JointInputs& inputs, const MetatrainFiles& files, const ProcessGroup& group, c10::Device device);

  [[nodiscard]] Backbone& backbone() const { return inputs_.backbone; }
  [[nodiscard]] CompletionModel* model() const { return inputs_.model; }

  /// Returns the completion network that is trained; null without a model. On the CPU its parameters are the model's
  /// weights.
  [[nodiscard]] const ProtoComNet* network() const { return network_ ? &*network_ : nullptr; }
  /// Returns its parameters, under "network."; none without a model.
  [[nodiscard]] NamedTensors network_tensors() const;
  /// Moves the network, which is trained on a device. The model, which is used on the CPU, receives the weights.
  void move_network(c10::Device device) const;

  /// Writes both as those of `kept_epoch`, and stores the epoch's gamma in the model. Only process 0 writes. If one of
  /// them cannot be written, both files stay unchanged.
  void write(int64_t kept_epoch, double gamma) const;
  /// Reads what was written last and sends it to every process.
  void bring_back() const;
  /// Sets the mean and std of the model's attributes to those of `base`, features of base images (equations 2 and 3).
  /// `classes` is in the order of base.class_names.
  void set_statistics(const FeatureSet& base, const KnowledgeTable& classes) const;

 private:
  [[nodiscard]] bool writes_model() const { return !files_.model.empty() && inputs_.model != nullptr; }
  void read() const;
  /// Copies weights that are on another device to the model.
  void fetch_weights() const;

  const JointInputs& inputs_;
  const MetatrainFiles& files_;
  const ProcessGroup& group_;
  std::optional<ProtoComNet> network_;
};

}  // namespace protocom
