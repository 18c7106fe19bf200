#include "train/joint_head.h"

#include <torch/torch.h>

#include "protocom/core/check.h"
#include "protocom/fewshot/cosine_classifier.h"

namespace protocom {

JointHead::JointHead(Method method, const CompletionModel* model, const ClassKnowledge* classes, double scale,
                     const GaussFusionOptions& fusion)
    : method_(method),
      model_(model),
      scale_(torch::tensor({scale}, torch::dtype(torch::kFloat).requires_grad(true))),
      fusion_(fusion) {
  if (method == Method::kMean) return;
  PROTOCOM_CHECK(model != nullptr && classes != nullptr);
  attributes_.emplace(*classes, *model);
}

std::vector<at::Tensor> JointHead::parameters() const {
  std::vector<at::Tensor> all = {scale_};
  if (method_ == Method::kMean) return all;
  for (const at::Tensor& parameter : model_->network.parameters()) all.push_back(parameter);
  return all;
}

at::Tensor JointHead::prototypes(const EpisodeFeatures& episode, at::Generator& generator) const {
  const SupportStatistics support = support_statistics(episode.support);
  const at::Tensor mean = mean_prototypes(support);  // [n, d]
  if (method_ == Method::kMean) return mean;
  const at::Tensor completed = model_->network.forward(attributes_->input(mean, episode.classes, generator));  // [n, d]
  if (method_ == Method::kCompleted) return completed;
  if (method_ == Method::kMeanFusion) return fuse_by_mean(mean, completed);
  return gauss_fusion(support, completed, episode.query, fusion_);
}

at::Tensor JointHead::logits(const EpisodeFeatures& episode, at::Generator& generator) const {
  return scale_ * protocom::cosine_similarity(episode.query, prototypes(episode, generator));
}

}  // namespace protocom
