#pragma once
#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "protocom/fewshot/paper/completion_model.h"
#include "protocom/serve/class_store.h"
#include "protocom/serve/store_model.h"

namespace protocom::testing {

/// A store over features of two dimensions, one attribute "tail" and embeddings of two dimensions; its files do not
/// exist.
inline ClassStore small_store() {
  ClassStore store;
  store.backbone = {"/nowhere/backbone.npz", "b"};
  store.model = {"/nowhere/model.npz", "m"};
  store.knowledge = {"/nowhere/knowledge.npz", "k"};
  store.preprocessing.image_size = 84;
  store.feature_dim = 2;
  store.attributes = {"tail"};
  return store;
}

inline ClassDescription description(float tail) {
  return {"a title", at::full({1}, tail), at::tensor({1.0F, 0.5F}), "attributes"};
}

inline EnrolledImages images(const std::vector<std::vector<float>>& features, const std::vector<std::string>& hashes) {
  std::vector<at::Tensor> rows;
  for (const auto& feature : features) rows.push_back(at::tensor(feature));
  return {at::stack(rows), hashes};
}

/// A completion network whose every weight is 0 but the decoder's last bias: it completes every prototype to
/// `completed`.
inline CompletionModel constant_model(const std::vector<float>& completed) {
  ProtoComNetOptions sizes;
  sizes.feature_dim = static_cast<int64_t>(completed.size());
  sizes.embedding_dim = 2;
  sizes.code_dim = 3;
  sizes.attention_hidden = 3;
  sizes.decoder_hidden = 3;
  CompletionModel model{ProtoComNet(sizes),
                        {"tail"},
                        at::tensor({0.0F, 1.0F}).unsqueeze(0),
                        at::zeros({1, sizes.feature_dim}),
                        at::ones({1, sizes.feature_dim})};
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : model.network.parameters()) parameter.zero_();
  model.network.parameter("decoder.2.bias").copy_(at::tensor(completed));
  return model;
}

inline StoreModel store_model(const std::vector<float>& completed) { return {constant_model(completed), {}}; }

}  // namespace protocom::testing
