#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// A task passed to a user-defined method. The memory is the library's and valid during the call.
struct OwnTask {
  int64_t classes = 0;              ///< c
  int64_t dim = 0;                  ///< d, the dimension of a feature
  int64_t supports = 0;             ///< m
  int64_t queries = 0;              ///< q
  const float* support = nullptr;   ///< [m, d], labelled images
  const int64_t* labels = nullptr;  ///< [m], in [0, c), ascending
  const float* query = nullptr;     ///< [q, d]
  uint64_t seed = 0;                ///< for methods that use random numbers
};

/// Base class of user-defined methods (examples/own_method.cc). After add_method(), Classifier and evaluate() know it
/// by its name.
class PROTOCOM_API OwnMethod {
 public:
  OwnMethod();
  OwnMethod(const OwnMethod&) = delete;
  OwnMethod& operator=(const OwnMethod&) = delete;
  virtual ~OwnMethod();

  /// Lower-case letters, digits and hyphens: "nearest-median".
  [[nodiscard]] virtual std::string name() const = 0;
  /// One line for lists.
  [[nodiscard]] virtual std::string about() const { return ""; }
  /// Whether a query's answer may depend on the other queries.
  [[nodiscard]] virtual bool is_transductive() const { return false; }
  /// Writes logits float32 [q, c], query after query: the largest wins, and their softmax gives the probabilities.
  /// Called from several threads at once. Exceptions reach the caller of the library.
  virtual void score(const OwnTask& task, float* logits) const = 0;
};

/// Registers a method for the lifetime of the process. Throws UsageError for an invalid or existing name.
PROTOCOM_API void add_method(std::shared_ptr<const OwnMethod> method);

}  // namespace protocom::v0
