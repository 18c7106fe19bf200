#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/methods.h"
#include "fewshot/paper/completion_model.h"
#include "heads/protocomnet.h"
#include "trainers/detail/attribute_draw.h"

namespace protocom {

/// The features of one episode, as computed by a backbone.
struct EpisodeFeatures {
  std::vector<int64_t> classes;  ///< [n], rows of the class knowledge
  at::Tensor support;            ///< [n, k, d]
  at::Tensor query;              ///< [n * q, d]
};

/// Means of prototype completion in joint meta-training; null for a method that completes nothing ("mean", as in
/// Meta-Baseline).
struct JointCompletion {
  const CompletionModel* model = nullptr;
  const ProtoComNet* network = nullptr;     ///< trained with the backbone
  const KnowledgeTable* classes = nullptr;  ///< over the model's attributes
};

/// What joint meta-training learns on top of the backbone (equations 6 to 8): the completion network and the scale
/// gamma.
class JointHead {
 public:
  /// `method` as for make_method; the parts of `completion` must outlive this. `gamma` is the initial scale. Throws
  /// UsageError for a method that needs anything else, or fitting, or whose answers have no gradient.
  JointHead(const std::string& method, const JointCompletion& completion, double gamma);

  /// Returns gamma * cosine of every query and prototype (equation 8 before its softmax), [n * q, n]. Differentiable in
  /// the features, the network and gamma. `generator` draws the attribute features of equation 9.
  [[nodiscard]] at::Tensor logits(const EpisodeFeatures& episode, at::Generator& generator) const;

  /// Returns gamma, one learnable value.
  [[nodiscard]] const at::Tensor& scale() const { return scale_; }
  /// Returns everything learnable here.
  [[nodiscard]] std::vector<at::Tensor> parameters() const;

 private:
  /// Completes prototypes with newly drawn attribute features.
  [[nodiscard]] at::Tensor complete(const at::Tensor& prototypes, const at::Tensor& classes,
                                    at::Generator& generator) const;

  std::unique_ptr<Method> method_;
  const ProtoComNet* network_;
  std::optional<AttributeDraw> attributes_;
  at::Tensor scale_;
};

}  // namespace protocom
