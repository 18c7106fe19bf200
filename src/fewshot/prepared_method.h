#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/array.h"
#include "fewshot/feature_transform.h"
#include "fewshot/task.h"

namespace protocom {

struct TaskImages;

/// Classes as encoded by a method with a ClassPlacer: arrays [n, ...] with one row per class. A change of a class makes
/// new arrays in place of those of length n, so that a cache can tell by their address whether it is still valid.
using PlacedClasses = std::vector<Array>;

/// Form of a method for which a class is one row of some arrays, independent of the other classes, and which answers
/// from those rows. Classes that are queried repeatedly are placed once, and change one by one. Thread-safe.
class ClassPlacer {
 public:
  ClassPlacer() = default;
  virtual ~ClassPlacer() = default;
  ClassPlacer(const ClassPlacer&) = delete;
  ClassPlacer& operator=(const ClassPlacer&) = delete;
  /// Places classes with their labelled images, which have not been through the method's space. A class may have none
  /// if the method answers without (MethodSpec::fewest_shots).
  [[nodiscard]] virtual PlacedClasses place(const TaskImages& images) const = 0;
  /// Returns the scores of the method's run for queries float32 [q, d] in a task of these classes, up to rounding.
  [[nodiscard]] virtual QueryScores score(const PlacedClasses& classes, const FeatureRows& queries) const = 0;
};

/// Space in which a method compares single images. Thread-safe.
class ImagePoints {
 public:
  ImagePoints() = default;
  virtual ~ImagePoints() = default;
  ImagePoints(const ImagePoints&) = delete;
  ImagePoints& operator=(const ImagePoints&) = delete;
  /// Maps features float32 [n, d], not through a FeatureTransform, to points [n, e]: the larger the cosine of two, the
  /// likelier the images are of one class.
  [[nodiscard]] virtual FloatMatrix points(const FeatureRows& features) const = 0;
};

/// A method prepared for a set of classes. What the context points to must outlive it; copies share everything.
struct PreparedMethod {
  std::shared_ptr<const FeatureTransform> space = nullptr;  ///< of a task's rows; null: they are used as they are
  MakeTaskRun make_run = nullptr;
  int64_t fewest_shots = 1;                             ///< labelled images that a class must have
  std::shared_ptr<const ClassPlacer> placer = nullptr;  ///< null: a class cannot be placed by itself
  /// Places all classes of a task at once, since what is learned of one depends on the others; may be null.
  std::shared_ptr<const ClassPlacer> together = nullptr;
  std::shared_ptr<const ImagePoints> points = nullptr;  ///< null: the method does not compare single images

  /// Returns the placer for the classes of a task that does not change; null: the answers need the labelled images.
  [[nodiscard]] const ClassPlacer* placer_of_task() const { return placer != nullptr ? placer.get() : together.get(); }
};

}  // namespace protocom
