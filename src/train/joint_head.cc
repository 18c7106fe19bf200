#include "train/detail/joint_head.h"

#include <torch/torch.h>

#include "base/check.h"
#include "base/error.h"

namespace protocom {
namespace {

/// Whether a loss has a slope in the features that the method is asked about.
bool has_gradient(const Method& method) {
  EpisodeBatch batch;
  batch.support = torch::sin(torch::arange(16)).view({1, 2, 2, 4}).set_requires_grad(true);
  batch.query = torch::cos(torch::arange(8)).view({1, 2, 4}).set_requires_grad(true);
  return method.prepare({})->score(batch).logits.requires_grad();
}

}  // namespace

JointHead::JointHead(const std::string& method, const CompletionModel* model, const KnowledgeTable* classes,
                     double gamma)
    : method_(make_method(method)),
      model_(model),
      scale_(torch::tensor({gamma}, torch::dtype(torch::kFloat).requires_grad(true))) {
  for (const Need need : method_->spec().needs) {
    if (need != Need::kCompletionModel)
      fail_usage("'{}' cannot be the head of joint meta-training: it needs {}", method, to_string(need));
  }
  if (!method_->spec().has(Need::kCompletionModel)) {
    if (!has_gradient(*method_))
      fail_usage("'{}' cannot be the head of joint meta-training: its answers have no gradient", method);
    return;
  }
  PROTOCOM_CHECK(model != nullptr && classes != nullptr);
  attributes_.emplace(*classes, *model);
}

std::vector<at::Tensor> JointHead::parameters() const {
  std::vector<at::Tensor> all = {scale_};
  if (!attributes_) return all;
  for (const at::Tensor& parameter : model_->network.parameters()) all.push_back(parameter);
  return all;
}

at::Tensor JointHead::complete(const at::Tensor& prototypes, const at::Tensor& classes,
                               at::Generator& generator) const {
  const at::Tensor flat = classes.flatten().contiguous();
  const std::vector<int64_t> labels(flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel());
  const CompletionInput input = attributes_->input(prototypes.flatten(0, 1), labels, generator);
  return model_->network.forward(input).view(prototypes.sizes());  // [1, n, d]
}

at::Tensor JointHead::logits(const EpisodeFeatures& episode, at::Generator& generator) const {
  MethodContext context;
  context.gamma = scale_;
  if (attributes_) {
    context.complete = [this, &generator](const at::Tensor& prototypes, const at::Tensor& classes) {
      return complete(prototypes, classes, generator);
    };
  }
  EpisodeBatch batch;
  batch.support = episode.support.unsqueeze(0);  // [1, n, k, d]
  batch.query = episode.query.unsqueeze(0);      // [1, n * q, d]
  batch.classes = at::tensor(episode.classes, at::kLong).unsqueeze(0);
  return method_->prepare(context)->score(batch).logits.squeeze(0);
}

}  // namespace protocom
