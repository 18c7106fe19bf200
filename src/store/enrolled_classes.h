#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "knowledge/class_description.h"

namespace protocom {

/// In StoredClass::moments: a photo without a stated moment.
inline constexpr int64_t kNotStated = -1;

/// An enrolled class: its description and its images, as features.
struct StoredClass {
  std::string name;
  ClassDescription description;  ///< its row of R over EnrolledClasses::attributes
  int64_t count = 0;             ///< images
  Array features;                ///< float32 [count, d]
  /// [count], the number of each photo's moment (recognizer/moments.h), or kNotStated; empty: none is stated.
  std::vector<int64_t> moments = {};
  /// [count], when each photo was taken, seconds since 1970 by the camera's clock; empty: of none it is known.
  std::vector<std::optional<double>> taken = {};
};

/// All that telling classes apart needs besides a model: what a recognizer holds.
struct EnrolledClasses {
  int64_t feature_dim = 0;              ///< d
  std::vector<std::string> attributes;  ///< [a], those of the model or the method
  std::vector<StoredClass> classes;     ///< in the order of their enrolment
  Array unlabelled = {};                ///< float32 [u, d], unlabelled images; undefined: none
};

}  // namespace protocom
