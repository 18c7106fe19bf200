#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Classes of a row whose examples are looked at: not all of a recognizer's for one image.
inline constexpr int64_t kClassesToLookAt = 20;

/// Finds the enrolled images that look most like others, where the method compares images (ClassScorer::points), so
/// that they agree with its answers; for a method that does not say where, by the features less their mean. Points of
/// enrolled images are kept from one question to the next.
class NearestExamples {
 public:
  /// Takes the classes as they are now; `before` as for ClassScorer::update.
  void update(const ClassScorer& scorer, const std::vector<int64_t>& before);

  /// For each row of `features` [n, d] the `most` examples that are most like it, nearest first, among those of the
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

/// Why an image is taken for `answer` although its nearest example is of another class; empty if that is of the same
/// class, or there is none.
std::string note_on_nearest(const StoredClass& answer, const std::vector<NearImage>& nearest);

}  // namespace protocom
