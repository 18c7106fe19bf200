#include "protocom/fewshot/completer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "protocom/core/check.h"

namespace protocom {
namespace {

at::Tensor unit(const at::Tensor& vectors) {
  constexpr double kTiny = 1e-12;
  return vectors / vectors.norm(2, -1, true).clamp_min(kTiny);
}

float attention_score(const float* class_share, const float* attribute_share, const float* output, int64_t hidden) {
  float score = 0;
  for (int64_t i = 0; i < hidden; ++i) score += output[i] * std::max(class_share[i] + attribute_share[i], 0.0F);
  return score;
}

}  // namespace

Completer::Completer(const CompletionModel& model, const ClassKnowledge& classes) : network_(&model.network) {
  const at::NoGradGuard no_grad;
  const auto& sizes = model.network.options();
  PROTOCOM_CHECK(classes.association.size(1) == model.attribute_mean.size(0));
  PROTOCOM_CHECK(classes.embedding.size(1) == sizes.embedding_dim);
  const auto blocks = model.network.parameter("aggregator.0.weight")
                          .split_with_sizes({sizes.feature_dim, sizes.embedding_dim, sizes.embedding_dim}, 1);
  attribute_code_ = model.network.encode(model.attribute_mean).contiguous();
  class_share_ =
      (at::mm(unit(classes.embedding), blocks[1].t()) + model.network.parameter("aggregator.0.bias")).contiguous();
  attribute_share_ = at::mm(unit(model.attribute_embedding), blocks[2].t()).contiguous();

  const at::Tensor association = classes.association.contiguous();
  const auto r = association.accessor<float, 2>();
  offset_.push_back(0);
  for (int64_t k = 0; k < r.size(0); ++k) {
    for (int64_t a = 0; a < r.size(1); ++a) {
      if (r[k][a] == 0) continue;
      attribute_.push_back(a);
      weight_.push_back(r[k][a]);
    }
    offset_.push_back(static_cast<int64_t>(attribute_.size()));
  }
}

at::Tensor Completer::complete(const at::Tensor& prototypes, const at::Tensor& class_index) const {
  const at::NoGradGuard no_grad;
  const auto& sizes = network_->options();
  const at::Tensor prototype_weight = network_->parameter("aggregator.0.weight").narrow(1, 0, sizes.feature_dim);
  const at::Tensor share = (at::mm(prototypes, prototype_weight.t()) + class_share_.index_select(0, class_index))
                               .contiguous();                        // [m, hidden]
  at::Tensor aggregate = network_->encode(prototypes).contiguous();  // [m, code]

  const int64_t hidden = sizes.attention_hidden;
  const int64_t code = sizes.code_dim;
  const at::Tensor output_weight = network_->parameter("aggregator.2.weight").contiguous();
  const float* output = output_weight.data_ptr<float>();
  const float output_bias = network_->parameter("aggregator.2.bias").item<float>();
  const int64_t* class_of = class_index.data_ptr<int64_t>();
  const float* class_share = share.data_ptr<float>();
  const float* attribute_share = attribute_share_.data_ptr<float>();
  const float* attribute_code = attribute_code_.data_ptr<float>();
  float* sum = aggregate.data_ptr<float>();
  constexpr int64_t kGrain = 64;
  at::parallel_for(0, prototypes.size(0), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      for (int64_t pair = offset_[class_of[m]]; pair < offset_[class_of[m] + 1]; ++pair) {
        const int64_t a = attribute_[pair];
        const float score = attention_score(class_share + m * hidden, attribute_share + a * hidden, output, hidden);
        const float alpha = weight_[pair] * (score + output_bias);
        for (int64_t i = 0; i < code; ++i) sum[m * code + i] += alpha * attribute_code[a * code + i];
      }
    }
  });
  return network_->decode(aggregate);
}

}  // namespace protocom
