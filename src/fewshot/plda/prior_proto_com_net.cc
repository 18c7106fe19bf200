#include <ATen/ATen.h>

#include "fewshot/plda/attribute_means.h"
#include "fewshot/plda/prior_kind.h"
#include "fewshot/toolbox/expect_tensor.h"
#include "fewshot/toolbox/state_tensors.h"
#include "fewshot/toolbox/step_training.h"
#include "protocom/core/error.h"
#include "protocom/nn/protocomnet.h"

namespace protocom {
namespace {

constexpr const char* kProtoComNet = "proto-com-net";
constexpr const char* kProtoComNetPrefix = "proto_com_net.";
constexpr int64_t kProtoComNetSteps = 200;
constexpr int64_t kProtoComNetBatch = 16;  // classes a step
constexpr double kProtoComNetRate = 1e-4;

/// The network with what it looks up of attributes.
struct AttributeNet {
  ProtoComNet network;
  at::Tensor words;  ///< h_a, float32 [a, e]
  at::Tensor mean;   ///< mu_a, float32 [a, l]

  /// Completed prototypes of classes without an image, p = 0 (the mean of all classes), [n, l]; z_a are `features`
  /// [n, a, l] or [a, l].
  [[nodiscard]] at::Tensor operator()(const ClassDescriptions& descriptions, const at::Tensor& features) const {
    const at::Tensor association = descriptions.association.to(at::kFloat);
    const auto pairs = association.nonzero().unbind(1);
    CompletionInput input;
    input.prototypes = at::zeros({association.size(0), mean.size(1)});
    input.class_embedding = descriptions.embedding.to(at::kFloat);
    input.attribute_embedding = words;
    input.pair_prototype = pairs[0];
    input.pair_attribute = pairs[1];
    input.pair_weight = association.index({pairs[0], pairs[1]});
    input.pair_feature = features.dim() == 3 ? features.index({pairs[0], pairs[1]}) : features.index({pairs[1]});
    return network.forward(input);
  }
};

class ProtoComNetPrior : public KnowledgePrior {
 public:
  ProtoComNetPrior(AttributeNet net, at::Tensor factor) : net_(std::move(net)), factor_(std::move(factor)) {}

  [[nodiscard]] std::string name() const override { return kProtoComNet; }
  [[nodiscard]] at::Tensor predict(const ClassDescriptions& descriptions) const override {
    const at::NoGradGuard no_grad;
    check(descriptions.association, net_.words.size(0), "attributes");
    check(descriptions.embedding, net_.words.size(1), "embedding dimensions");
    return up_to(net_(descriptions, net_.mean), factor_.size(0)) * factor_;
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const at::Tensor& factor) const override {
    return std::make_shared<ProtoComNetPrior>(net_, factor_ * factor);
  }
  void add_to(MethodState& state) const override {
    const std::string prefix = kProtoComNetPrefix;
    for (const auto& [name, tensor] : net_.network.state_dict()) add_tensor(state, prefix + name, tensor.detach());
    add_tensor(state, prefix + "attribute_embedding", net_.words);
    add_tensor(state, prefix + "attribute_mean", net_.mean);
    add_tensor(state, prefix + "factor", factor_);
  }

 private:
  static void check(const at::Tensor& rows, int64_t width, const char* what) {
    if (rows.defined() && rows.size(1) == width) return;
    fail("descriptions have {} {}, the prior '{}' was fitted on {}; use the same knowledge",
         rows.defined() ? rows.size(1) : 0, what, kProtoComNet, width);
  }

  AttributeNet net_;
  at::Tensor factor_;  ///< of what it predicts, float64 [e]
};

ProtoComNetOptions sizes_of(int64_t leading, int64_t embedding) {
  ProtoComNetOptions options;
  options.feature_dim = leading;
  options.embedding_dim = embedding;
  return options;
}

/// The mean of every attribute as the other classes show it, for each class, float32 [c, a, l].
at::Tensor seen_by_others(const AttributeMeans& observed, const at::Tensor& means) {
  std::vector<at::Tensor> others;
  for (int64_t c = 0; c < means.size(0); ++c) others.push_back(observed.without(means[c], c));
  return at::stack(others).to(at::kFloat);
}

/// ProtoComNet as the paper trains it (draws of attribute features, mean squared error to the class mean), but of a
/// class without an image, and with an attribute's mean taken over the other classes: what one class alone has would
/// give its answer away.
std::shared_ptr<const KnowledgePrior> train_proto_com_net(const PriorExamples& examples, uint64_t seed) {
  at::manual_seed(seed);
  const AttributeMeans observed(examples);
  const at::Tensor means = examples.means.narrow(1, 0, examples.leading);
  const at::Tensor seen = seen_by_others(observed, means);
  const at::Tensor spread = observed.variance.sqrt().to(at::kFloat);
  const at::Tensor target = means.to(at::kFloat);
  const at::Tensor words = examples.descriptions.attribute_embedding.to(at::kFloat);
  const AttributeNet net{ProtoComNet(sizes_of(examples.leading, words.size(1))), words, observed.mean.to(at::kFloat)};
  const auto loss = [&] {
    const at::Tensor some = at::randperm(means.size(0)).narrow(0, 0, std::min(kProtoComNetBatch, means.size(0)));
    const at::Tensor features = seen.index_select(0, some);
    return at::mse_loss(net(examples.descriptions.rows(some), features + spread * at::randn_like(features)),
                        target.index_select(0, some));
  };
  train_steps(net.network.parameters(), {kProtoComNet, kProtoComNetSteps, kProtoComNetRate}, loss, nullptr,
              Progress::none());
  return std::make_shared<ProtoComNetPrior>(net, at::ones({examples.means.size(1)}, at::kDouble));
}

std::string lacks_all_words(const ClassDescriptions& descriptions) {
  if (std::string lacking = lacks_attribute_words(descriptions); !lacking.empty()) return lacking;
  const at::Tensor& words = descriptions.embedding;
  return words.defined() && words.ne(0).any().item<bool>() ? "" : "word vectors of classes";
}

PriorChoice choose_proto_com_net(const PriorExamples& examples, const PriorOptions& options) {
  return only_choice([seed = options.seed](const PriorExamples& base) { return train_proto_com_net(base, seed); },
                     examples, options);
}

std::shared_ptr<const KnowledgePrior> load_proto_com_net(const MethodState& state, const KernelRidgeOptions& /*ridge*/,
                                                         int64_t dims) {
  const std::string prefix = kProtoComNetPrefix;
  if (!has_tensor(state, prefix + "factor")) return nullptr;
  const auto attributes = static_cast<int64_t>(state.attributes.size());
  const auto floats = [&](const std::string& name, at::IntArrayRef shape) {
    return finite_tensor(state, prefix + name, shape).to(at::kFloat);
  };
  const at::Tensor words = floats("attribute_embedding", {attributes, -1});
  const at::Tensor mean = floats("attribute_mean", {attributes, -1});
  if (mean.size(1) > dims) fail("'{}attribute_mean' has {} columns, expected at most {}", prefix, mean.size(1), dims);
  AttributeNet net{ProtoComNet(sizes_of(mean.size(1), words.size(1))), words, mean};
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : net.network.state_dict())
    at::Tensor(tensor).copy_(floats(name, tensor.sizes())).set_requires_grad(false);
  return std::make_shared<ProtoComNetPrior>(std::move(net), finite_tensor(state, prefix + "factor", {dims}));
}

}  // namespace

PriorKind proto_com_net_prior() { return {kProtoComNet, lacks_all_words, choose_proto_com_net, load_proto_com_net}; }

}  // namespace protocom
