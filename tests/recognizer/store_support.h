#pragma once
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <string>
#include <utility>
#include <vector>

#include "fewshot/paper/completion_model.h"
#include "recognizer/class_scorer.h"
#include "recognizer/store_model.h"
#include "store/enrolled_classes.h"

namespace protocom::testing {

/// No class yet, over features of two dimensions, one attribute "tail" and embeddings of two dimensions.
inline EnrolledClasses small_store() { return {2, {"tail"}, {}}; }

inline ClassDescription description(float tail) {
  return {"a title", Array::of<float>({tail}), Array::of<float>({1, 0.5F}), "attributes"};
}

inline void add_class(EnrolledClasses& store, const std::string& name, ClassDescription description) {
  StoredClass added;
  added.name = name;
  added.description = std::move(description);
  added.features = Array::zeros({0, store.feature_dim});
  store.classes.push_back(std::move(added));
}

/// Adds features [n, d] to a class that is there.
inline void add_images(EnrolledClasses& store, const std::string& name, const Array& features) {
  for (StoredClass& one : store.classes) {
    if (one.name != name) continue;
    one.features = Array::joined({one.features, features});
    one.count = one.features.size(0);
  }
}

inline Array images(const std::vector<std::vector<float>>& features) {
  std::vector<float> numbers;
  for (const auto& feature : features) numbers.insert(numbers.end(), feature.begin(), feature.end());
  return Array::of(numbers, {static_cast<int64_t>(features.size()), static_cast<int64_t>(features.front().size())});
}

/// The classes' probabilities [n, c].
inline FloatMatrix probabilities(const ClassScorer& scorer, const Array& features) {
  FloatMatrix logits = scorer.score(features).logits;
  const DoubleVector sums = log_sum_exp(logits);
  return (logits.cast<double>().colwise() - sums).array().exp().cast<float>();
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
