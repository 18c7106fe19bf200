#include "trainers/detail/joint_head.h"

#include <torch/torch.h>

#include "base/check.h"
#include "base/error.h"
#include "fewshot/paper/paper_row.h"
#include "heads/paper_training.h"

namespace protocom {

JointHead::JointHead(const std::string& method, const JointCompletion& completion, double gamma)
    : method_(make_method(method)),
      network_(completion.network),
      scale_(torch::tensor({gamma}, torch::dtype(torch::kFloat).requires_grad(true))) {
  for (const Need need : method_->spec().needs) {
    if (need != Need::kCompletionModel)
      fail_usage("'{}' cannot be the head of joint meta-training: it needs {}", method, to_string(need));
  }
  if (!method_->spec().has(Need::kCompletionModel)) {
    if (paper_row_options(*method_) == nullptr)
      fail_usage("'{}' cannot be the head of joint meta-training: its answers have no gradient", method);
    return;
  }
  PROTOCOM_CHECK(completion.model != nullptr && completion.network != nullptr && completion.classes != nullptr);
  attributes_.emplace(*completion.classes, *completion.model);
}

std::vector<at::Tensor> JointHead::parameters() const {
  std::vector<at::Tensor> all = {scale_};
  if (!attributes_) return all;
  for (const at::Tensor& parameter : network_->parameters()) all.push_back(parameter);
  return all;
}

at::Tensor JointHead::complete(const at::Tensor& prototypes, const at::Tensor& classes,
                               at::Generator& generator) const {
  const at::Tensor flat = classes.flatten().contiguous();
  const std::vector<int64_t> labels(flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel());
  const CompletionInput input = attributes_->input(prototypes.flatten(0, 1), labels, generator);
  return network_->forward(input).view(prototypes.sizes());  // [1, n, d]
}

at::Tensor JointHead::logits(const EpisodeFeatures& episode, at::Generator& generator) const {
  CompletePrototypes completed;
  if (attributes_) {
    completed = [this, &generator](const at::Tensor& prototypes, const at::Tensor& classes) {
      return complete(prototypes, classes, generator);
    };
  }
  EpisodeBatch batch;
  batch.support = episode.support.unsqueeze(0);  // [1, n, k, d]
  batch.query = episode.query.unsqueeze(0);      // [1, n * q, d]
  batch.classes = at::tensor(episode.classes, at::kLong).unsqueeze(0);
  return paper_row_scores(*method_, batch, completed, scale_).logits.squeeze(0);
}

}  // namespace protocom
