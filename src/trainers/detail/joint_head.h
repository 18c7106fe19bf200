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

/// The features of one episode, as a backbone gives them.
struct EpisodeFeatures {
  std::vector<int64_t> classes;  ///< [n], rows of the class knowledge
  at::Tensor support;            ///< [n, k, d]
  at::Tensor query;              ///< [n * q, d]
};

/// What completes prototypes in joint meta-training; null for a method that completes nothing ("mean", the MetaBaseline
/// way).
struct JointCompletion {
  const CompletionModel* model = nullptr;
  const ProtoComNet* network = nullptr;     ///< the one that is trained
  const KnowledgeTable* classes = nullptr;  ///< with the attributes of the model
};

/// What joint meta-training learns on top of the backbone (equations 6 to 8): the completion network and the scale
/// gamma.
class JointHead {
 public:
  /// `method` as make_method takes it; the parts of `completion` must outlive this. `gamma` is where the scale starts.
  /// Throws UsageError for a method that needs more than that, or fitting, or whose answers have no gradient.
  JointHead(const std::string& method, const JointCompletion& completion, double gamma);

  /// gamma * cosine of every query and prototype (equation 8 before its softmax), [n * q, n]. Differentiable in the
  /// features, the network and gamma. `generator` draws the attribute features of equation 9.
  [[nodiscard]] at::Tensor logits(const EpisodeFeatures& episode, at::Generator& generator) const;

  /// gamma, one learnable value.
  [[nodiscard]] const at::Tensor& scale() const { return scale_; }
  /// Everything learnable here.
  [[nodiscard]] std::vector<at::Tensor> parameters() const;

 private:
  /// Completes with newly drawn attribute features.
  [[nodiscard]] at::Tensor complete(const at::Tensor& prototypes, const at::Tensor& classes,
                                    at::Generator& generator) const;

  std::unique_ptr<Method> method_;
  const ProtoComNet* network_;
  std::optional<AttributeDraw> attributes_;
  at::Tensor scale_;
};

}  // namespace protocom
