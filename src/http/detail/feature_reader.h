#pragma once
#include <cstdint>
#include <vector>

#include "base/array.h"

namespace protocom::http {

/// Features that a request may bring.
struct FeatureShape {
  int64_t dim = 0;   ///< numbers of each
  int64_t most = 0;  ///< how many
};

/// Takes one feature, `[0.1, 0.2]`, or a list of them, `[[0.1, 0.2], [0.3, 0.4]]`, event by event as a parser finds
/// them, so that nothing is kept but the numbers. Each event throws HttpError 400 for another shape and for numbers of
/// a magnitude of 2^63 or more, 413 for more features than may be.
class FeatureReader {
 public:
  explicit FeatureReader(const FeatureShape& shape) : shape_(shape) {}

  void start_array();
  void number(double value);
  void end_array();
  /// Whatever belongs into no list of features.
  [[noreturn]] void other() const;

  /// Whether the list has ended.
  [[nodiscard]] bool is_done() const { return done_; }
  /// float32 [n, dim], once it is done.
  [[nodiscard]] Array features() const;

 private:
  [[noreturn]] void refuse_row() const;

  FeatureShape shape_;
  std::vector<float> values_;
  int depth_ = 0;
  int64_t rows_ = 0;    ///< lists within the list
  int64_t in_row_ = 0;  ///< numbers of the last one, or of the list itself
  bool done_ = false;
};

}  // namespace protocom::http
