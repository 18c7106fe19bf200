#pragma once
#include <cstdint>
#include <vector>

#include "base/array.h"

namespace protocom::http {

/// The features that a request may contain.
struct FeatureShape {
  int64_t dim = 0;   ///< numbers per feature
  int64_t most = 0;  ///< most features
};

/// Reads one feature, `[0.1, 0.2]`, or a list of them, `[[0.1, 0.2], [0.3, 0.4]]`, event by event from a parser,
/// storing only the numbers. Each event throws HttpError 400 for another shape and for numbers of magnitude 2^63 or
/// more, 413 for too many features.
class FeatureReader {
 public:
  explicit FeatureReader(const FeatureShape& shape) : shape_(shape) {}

  void start_array();
  void number(double value);
  void end_array();
  /// Refuses anything that does not belong in a list of features.
  [[noreturn]] void other() const;

  /// Whether the list has ended.
  [[nodiscard]] bool is_done() const { return done_; }
  /// Returns float32 [n, dim], once it is done.
  [[nodiscard]] Array features() const;

 private:
  [[noreturn]] void refuse_row() const;

  FeatureShape shape_;
  std::vector<float> values_;
  int depth_ = 0;
  int64_t rows_ = 0;    ///< lists inside the list
  int64_t in_row_ = 0;  ///< numbers in the last one, or in the list itself
  bool done_ = false;
};

}  // namespace protocom::http
