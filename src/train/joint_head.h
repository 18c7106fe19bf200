#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "protocom/eval/evaluate.h"
#include "protocom/fewshot/gauss_fusion.h"
#include "train/attribute_draw.h"

namespace protocom {

/// The features of one episode, as a backbone gives them.
struct EpisodeFeatures {
  std::vector<int64_t> classes;  ///< [n], rows of the class knowledge
  at::Tensor support;            ///< [n, k, d]
  at::Tensor query;              ///< [n * q, d]
};

/// What joint meta-training learns on top of the backbone (equations 6 to 8): the completion network and the scale
/// gamma.
class JointHead {
 public:
  /// `model` and `classes` must outlive it; they may be null for Method::kMean (the MetaBaseline way).
  JointHead(Method method, const CompletionModel* model, const ClassKnowledge* classes, double scale,
            const GaussFusionOptions& fusion);

  /// gamma * cosine of every query and prototype (equation 8 before its softmax), [n * q, n]. Differentiable in the
  /// features, the network and gamma. `generator` draws the attribute features of equation 9.
  [[nodiscard]] at::Tensor logits(const EpisodeFeatures& episode, at::Generator& generator) const;

  /// gamma, one learnable value.
  [[nodiscard]] const at::Tensor& scale() const { return scale_; }
  /// Everything learnable here.
  [[nodiscard]] std::vector<at::Tensor> parameters() const;

 private:
  [[nodiscard]] at::Tensor prototypes(const EpisodeFeatures& episode, at::Generator& generator) const;

  Method method_;
  const CompletionModel* model_;
  std::optional<AttributeDraw> attributes_;
  at::Tensor scale_;
  GaussFusionOptions fusion_;
};

}  // namespace protocom
