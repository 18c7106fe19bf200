#include "eval/analysis_attention.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "fewshot/paper/completion_model.h"
#include "fewshot/paper/protocomnet.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

std::vector<int64_t> attributes_of(const KnowledgeTable& classes, int64_t class_index) {
  const at::Tensor found = tensor_of(classes.association.row(class_index)).nonzero().flatten();
  return {found.data_ptr<int64_t>(), found.data_ptr<int64_t>() + found.numel()};
}

/// alpha of every (image, attribute), [m, a'].
at::Tensor attention_of(const AnalysisInputs& inputs, const ProtoComNet& network, int64_t class_index,
                        const at::Tensor& images, const at::Tensor& attributes) {
  const int64_t m = images.size(0);
  const int64_t count = attributes.size(0);
  const at::Tensor pair_attribute = attributes.repeat({m});
  CompletionInput input{images,
                        tensor_of(inputs.data.classes->class_embedding.row(class_index)).unsqueeze(0).expand({m, -1}),
                        tensor_of(inputs.data.model->attribute_embedding),
                        at::arange(m).repeat_interleave(count),
                        pair_attribute,
                        tensor_of(inputs.data.classes->association.row(class_index)).index_select(0, pair_attribute),
                        {}};
  return network.attention(input).view({m, count});
}

ClassAttention attention_of_class(const AnalysisInputs& inputs, const ProtoComNet& network, int64_t class_index,
                                  const std::vector<int64_t>& rows, const Knowledge& knowledge) {
  const std::string& name = inputs.data.features.class_names[static_cast<size_t>(class_index)];
  ClassAttention result{name, short_title(knowledge, name), static_cast<int64_t>(rows.size()), {}};
  const std::vector<int64_t> own = attributes_of(*inputs.data.classes, class_index);
  if (own.empty()) return result;
  const at::Tensor attributes = at::tensor(own, at::kLong);
  const at::Tensor images = tensor_of(inputs.data.features.features.gathered(rows));
  const at::Tensor alpha = attention_of(inputs, network, class_index, images, attributes);  // [m, a']
  const at::Tensor size =
      network.encode(tensor_of(inputs.data.model->attribute_mean.gathered(own))).norm(2, 1);  // [a']
  const at::Tensor own_size = network.encode(images).norm(2, 1).clamp_min(1e-12);             // [m]
  const at::Tensor contribution = (alpha.abs() * size / own_size.unsqueeze(1)).mean(0);
  for (size_t i = 0; i < own.size(); ++i) {
    const auto column = static_cast<int64_t>(i);
    const std::string& attribute = inputs.data.model->attributes[static_cast<size_t>(own[i])];
    result.attributes.push_back({attribute, short_title(knowledge, attribute),
                                 inputs.data.classes->association.row(class_index).data<float>()[own[i]],
                                 alpha.select(1, column).mean().item<double>(),
                                 alpha.select(1, column).std(false).item<double>(),
                                 contribution[column].item<double>()});
  }
  std::stable_sort(result.attributes.begin(), result.attributes.end(),
                   [](const auto& a, const auto& b) { return a.contribution > b.contribution; });
  return result;
}

}  // namespace

std::vector<ClassAttention> analyse_attention(const AnalysisInputs& inputs, Split split, const Knowledge& knowledge) {
  const at::NoGradGuard no_grad;
  const ProtoComNet network(*inputs.data.model);
  const auto by_class = inputs.data.features.rows_by_class();
  std::vector<ClassAttention> result;
  for (const int64_t k : inputs.data.features.classes_of(split))
    result.push_back(attention_of_class(inputs, network, k, by_class[static_cast<size_t>(k)], knowledge));
  return result;
}

}  // namespace protocom
