#pragma once
#include <string>
#include <utility>
#include <vector>

#include "fewshot/paper/completion_model.h"
#include "recognizer/class_scorer.h"
#include "recognizer/store_model.h"
#include "store/enrolled_classes.h"

namespace protocom::testing {

/// Returns a store without classes, over features of two dimensions, one attribute "tail" and embeddings of two
/// dimensions.
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

/// Adds features [n, d] to an existing class.
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

/// Returns the classes' probabilities [n, c].
inline FloatMatrix probabilities(const ClassScorer& scorer, const Array& features) {
  FloatMatrix logits = scorer.score(features).logits;
  const DoubleVector sums = log_sum_exp(logits);
  return (logits.cast<double>().colwise() - sums).array().exp().cast<float>();
}

/// Returns a completion network whose weights are all 0 except for the decoder's last bias: it completes every
/// prototype to `completed`.
inline CompletionModel constant_model(const std::vector<float>& completed) {
  ProtoComNetOptions sizes;
  sizes.feature_dim = static_cast<int64_t>(completed.size());
  sizes.embedding_dim = 2;
  sizes.code_dim = 3;
  sizes.attention_hidden = 3;
  sizes.decoder_hidden = 3;
  CompletionModel model;
  model.sizes = sizes;
  for (const auto& [name, shape] : weight_shapes(sizes))
    model.weights.emplace_back(name, name == "decoder.2.bias" ? Array::of(completed) : Array::zeros(shape));
  model.attributes = {"tail"};
  model.attribute_embedding = Array::of<float>({0, 1}, {1, 2});
  model.attribute_mean = Array::zeros({1, sizes.feature_dim});
  model.attribute_std = Array::of(std::vector<float>(completed.size(), 1), {1, sizes.feature_dim});
  return model;
}

inline StoreModel store_model(const std::vector<float>& completed) { return {constant_model(completed), {}}; }

}  // namespace protocom::testing
