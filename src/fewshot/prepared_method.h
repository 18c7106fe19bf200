#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/array.h"
#include "fewshot/feature_transform.h"
#include "fewshot/task.h"

namespace protocom {

struct TaskImages;

/// Classes as a method with a ClassPlacer encodes them: arrays [n, ...] with a row for each class. A change of a class
/// makes new arrays of those that are [n], so that a cache can tell by their address whether it still fits.
using PlacedClasses = std::vector<Array>;

/// The form of a method to which a class is a row of some arrays, whatever the other classes are, and which answers by
/// those rows. Classes that are queried repeatedly are placed once, and change one by one. Thread-safe.
class ClassPlacer {
 public:
  ClassPlacer() = default;
  virtual ~ClassPlacer() = default;
  ClassPlacer(const ClassPlacer&) = delete;
  ClassPlacer& operator=(const ClassPlacer&) = delete;
  /// Classes with their labelled images, which have not been through the method's space. A class may have none if
  /// the method answers without (MethodSpec::fewest_shots).
  [[nodiscard]] virtual PlacedClasses place(const TaskImages& images) const = 0;
  /// The scores of the method's run for queries float32 [q, d] in a task of these classes, but for rounding.
  [[nodiscard]] virtual QueryScores score(const PlacedClasses& classes, const FeatureRows& queries) const = 0;
};

/// Where a method compares single images. Thread-safe.
class ImagePoints {
 public:
  ImagePoints() = default;
  virtual ~ImagePoints() = default;
  ImagePoints(const ImagePoints&) = delete;
  ImagePoints& operator=(const ImagePoints&) = delete;
  /// Features float32 [n, d], not through a FeatureTransform, as points [n, e]: the larger the cosine of two, the
  /// likelier the images are of one class.
  [[nodiscard]] virtual FloatMatrix points(const FeatureRows& features) const = 0;
};

/// A method prepared for a set of classes. What the context pointed to must outlive it; copies share all.
struct PreparedMethod {
  std::shared_ptr<const FeatureTransform> space = nullptr;  ///< what a task's rows go through; null: as they are
  MakeTaskRun make_run = nullptr;
  int64_t fewest_shots = 1;                             ///< labelled images that a class must have
  std::shared_ptr<const ClassPlacer> placer = nullptr;  ///< null: a class cannot be placed by itself
  /// Null, or places all classes of a task at once, since what is learned of one depends on the others.
  std::shared_ptr<const ClassPlacer> together = nullptr;
  std::shared_ptr<const ImagePoints> points = nullptr;  ///< null: it does not compare single images

  /// What places the classes of a task that stays as it is; null: its answers need the labelled images.
  [[nodiscard]] const ClassPlacer* placer_of_task() const { return placer != nullptr ? placer.get() : together.get(); }
};

}  // namespace protocom
