#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "knowledge/class_description.h"

namespace protocom {

/// In StoredClass::moments: the photo has no stated moment.
inline constexpr int64_t kNotStated = -1;

/// An enrolled class: its description and its images, as features.
struct StoredClass {
  std::string name;
  ClassDescription description;  ///< its row of R over EnrolledClasses::attributes
  int64_t count = 0;             ///< number of images
  Array features;                ///< float32 [count, d]
  /// [count], number of each photo's moment (recognizer/moments.h), or kNotStated; empty: none is stated.
  std::vector<int64_t> moments = {};
  /// [count], when each photo was taken, seconds since 1970 by the camera's clock; empty: unknown for all.
  std::vector<std::optional<double>> taken = {};
};

/// The classes in a recognizer: everything needed to distinguish them besides a model.
struct EnrolledClasses {
  int64_t feature_dim = 0;              ///< d
  std::vector<std::string> attributes;  ///< [a], those of the model or the method
  std::vector<StoredClass> classes;     ///< in order of enrolment
  Array unlabelled = {};                ///< float32 [u, d], unlabelled images; undefined: none
};

}  // namespace protocom
