#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <vector>

#include "protocom/core/rng.h"
#include "protocom/data/feature_set.h"
#include "protocom/fewshot/paper/completion_model.h"
#include "train/attribute_draw.h"
#include "train/checkpoint.h"

namespace protocom {

/// A batch of prototype completion tasks: what the network sees and what it should answer.
struct CompletionBatch {
  CompletionInput input;
  at::Tensor target;  // p_k^real of equation 1, [m, d]
};

/// Draws prototype completion tasks from the base classes (section 3.2, step 3).
class CompletionTasks {
 public:
  /// `classes` has the order of features.class_names; the attribute tensors are the model's.
  CompletionTasks(const FeatureSet& features, const ClassDescriptions& classes, const CompletionModel& model,
                  uint64_t seed);

  [[nodiscard]] CompletionBatch draw(int64_t batch, int64_t k_shot);

  /// Where the generators are.
  void save(Checkpoint& checkpoint) const;
  void load(const Checkpoint& checkpoint);

 private:
  const FeatureSet& features_;
  std::vector<int64_t> base_;
  std::vector<std::vector<int64_t>> rows_;
  at::Tensor centres_;  // [c, d]
  AttributeDraw attributes_;
  Rng rng_;
  at::Generator generator_;
};

}  // namespace protocom
