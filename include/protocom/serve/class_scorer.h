#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "protocom/fewshot/methods.h"
#include "protocom/serve/class_store.h"
#include "protocom/serve/store_model.h"

namespace protocom {

/// Settings of a ClassScorer.
struct ClassScorerOptions {
  /// As make_method takes it; empty: StoreModel::default_method. An inductive method classifies each image by itself;
  /// with a transductive one, such as "gauss-fusion", the images classified together also help to place the classes.
  std::string method = {};
};

/// A class and how probable it is.
struct RankedClass {
  std::string name;
  double probability = 0;
};

/// Classifies features by the classes of a store, as one episode in which they are the queries. Thread-safe after
/// construction.
class ClassScorer {
 public:
  /// `model` must outlive it. Throws Error when the store has no class, a class has no image, or the model's sizes or
  /// attributes are not the store's; UsageError for a method that needs what a store does not keep.
  ClassScorer(const ClassStore& store, const StoreModel& model, const ClassScorerOptions& options = {});
  ClassScorer(const ClassScorer&) = delete;
  ClassScorer& operator=(const ClassScorer&) = delete;

  /// [c], in the store's order.
  [[nodiscard]] const std::vector<std::string>& class_names() const { return table_.classes; }

  [[nodiscard]] const Method& method() const { return *method_; }

  /// Prototypes of all classes, float32 [c, d]; a transductive method places them by these features [n, d]. Undefined
  /// for a method without any.
  [[nodiscard]] at::Tensor prototypes(const at::Tensor& features) const;

  /// The classes' probabilities, float32 [n, c], rows sum to 1, of features float32 [n, d]. Throws Error for another d.
  [[nodiscard]] at::Tensor probabilities(const at::Tensor& features) const;

 private:
  [[nodiscard]] EpisodeScores score(const at::Tensor& features) const;

  KnowledgeTable table_;  // the store's classes and what is known of them
  ClassKnowledge knowledge_;
  EpisodeBatch supports_;  // all of a batch but the queries
  std::shared_ptr<const Method> method_;
  std::unique_ptr<Scorer> scorer_;
};

/// The `top` most probable classes of each row of `probabilities` [n, c], most probable first; ties keep the store's
/// order. Throws Error for another number of names than columns, UsageError for a negative `top`.
std::vector<std::vector<RankedClass>> rank_classes(const at::Tensor& probabilities,
                                                   const std::vector<std::string>& class_names, int64_t top);

}  // namespace protocom
