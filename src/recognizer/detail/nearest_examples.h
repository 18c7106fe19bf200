#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Number of classes of an answer whose examples are searched, rather than all of a recognizer's.
inline constexpr int64_t kClassesToLookAt = 20;

/// Finds the enrolled images most similar to queries, in the space where the method compares images
/// (ClassScorer::points), so that they agree with its answers; for a method without such a space, by the features minus
/// their mean. Caches the points of enrolled images between calls.
class NearestExamples {
 public:
  /// Updates to the current classes; `before` as for ClassScorer::update.
  void update(const ClassScorer& scorer, const std::vector<int64_t>& before);

  /// Returns for each row of `features` [n, d] the `most` most similar examples, nearest first, among those of the
  /// first kClassesToLookAt of its `best` classes. Empty if their features were not kept.
  std::vector<std::vector<NearImage>> find(const RecognizerSnapshot& snapshot, const ClassScorer& scorer,
                                           const std::vector<std::vector<int64_t>>& best, const Array& features,
                                           int64_t most);

 private:
  [[nodiscard]] std::shared_ptr<const FloatMatrix> points_of(const RecognizerSnapshot& snapshot,
                                                             const ClassScorer& scorer, int64_t k);

  std::vector<std::shared_ptr<const FloatMatrix>> kept_;  // by class: points of unit length [m, e]; null: none yet
  int64_t kept_rows_ = 0;
};

/// Explains why `answer` was predicted although the nearest example is of another class; empty if that is of the same
/// class, or there is none.
std::string note_on_nearest(const StoredClass& answer, const std::vector<NearImage>& nearest);

}  // namespace protocom
