#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "protocom/fewshot/completion_model.h"
#include "protocom/fewshot/prototypes.h"
#include "protocom/serve/class_store.h"

namespace protocom {

/// How the mean and the completed prototype of a class become one.
enum class Fusion {
  kInductive,    ///< 0.5 * mean + 0.5 * completed: every image is judged alone
  kTransductive  ///< GaussFusion: the images that are judged together also help to place the prototypes
};

/// Settings of a Recognizer.
struct RecognizerOptions {
  double scale = 10.0;  ///< of the cosine in softmax and GaussFusion (lambda of equation 12)
};

/// A class and how probable it is.
struct RankedClass {
  std::string name;
  double probability = 0;
};

/// Classifies features by the classes of a store (equation 8 with fused prototypes). Thread-safe after construction.
class Recognizer {
 public:
  /// Completes the prototypes of all classes. Throws Error when the store has no class, a class has no image, or the
  /// completion model's sizes or attributes are not the store's.
  Recognizer(const ClassStore& store, const CompletionModel& model, const RecognizerOptions& options = {});

  /// [c], in the store's order.
  [[nodiscard]] const std::vector<std::string>& class_names() const { return class_names_; }

  /// Prototypes of all classes, float32 [c, d]; for kTransductive from these features [n, d] as queries.
  [[nodiscard]] at::Tensor prototypes(const at::Tensor& features, Fusion fusion) const;

  /// softmax(scale * cosine), float32 [n, c], rows sum to 1, of features float32 [n, d]. Throws Error for another d.
  [[nodiscard]] at::Tensor probabilities(const at::Tensor& features, Fusion fusion) const;

 private:
  std::vector<std::string> class_names_;
  SupportStatistics support_;
  at::Tensor mean_;       // [c, d]
  at::Tensor completed_;  // [c, d]
  RecognizerOptions options_;
};

/// The `top` most probable classes of each row of `probabilities` [n, c], most probable first; ties keep the store's
/// order.
std::vector<std::vector<RankedClass>> rank_classes(const at::Tensor& probabilities,
                                                   const std::vector<std::string>& class_names, int64_t top);

}  // namespace protocom
