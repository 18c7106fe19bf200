#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// A task as given to your own method. The memory is the library's and valid during the call.
struct OwnTask {
  int64_t classes = 0;              ///< c
  int64_t dim = 0;                  ///< d
  int64_t supports = 0;             ///< m
  int64_t queries = 0;              ///< q
  const float* support = nullptr;   ///< [m, d], labelled images
  const int64_t* labels = nullptr;  ///< [m], in [0, c), ascending
  const float* query = nullptr;     ///< [q, d]
  uint64_t seed = 0;                ///< for methods that draw
};

/// Your own method, outside the library's tree (examples/own_method.cc). After add_method() it can be used by name: in
/// a Classifier, and in evaluate() on the same episodes as the others.
class PROTOCOM_API OwnMethod {
 public:
  OwnMethod();
  OwnMethod(const OwnMethod&) = delete;
  OwnMethod& operator=(const OwnMethod&) = delete;
  virtual ~OwnMethod();

  /// Small letters, digits and hyphens: "nearest-median".
  [[nodiscard]] virtual std::string name() const = 0;
  /// One line for lists.
  [[nodiscard]] virtual std::string about() const { return ""; }
  /// Whether a query's answer may depend on the other queries.
  [[nodiscard]] virtual bool is_transductive() const { return false; }
  /// Writes logits float32 [q, c], query after query: the largest wins, their softmax are probabilities. Called from
  /// several threads at once. Its exceptions are re-raised by the call.
  virtual void score(const OwnTask& task, float* logits) const = 0;
};

/// Adds it for the life of the process. Throws UsageError for a name that cannot be typed or is taken.
PROTOCOM_API void add_method(std::shared_ptr<const OwnMethod> method);

}  // namespace protocom::v0
