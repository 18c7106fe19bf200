#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/recognizer_file.h"

namespace protocom {

/// Two enrolled images that are almost the same picture.
struct TwinExamples {
  int64_t example = 0;  ///< the lower id
  std::string class_name;
  int64_t twin = 0;
  std::string twin_class;
  double similarity = 0;  ///< cosine of the features minus the mean of all
};

/// Least similarity of twins, both of the features and of the features minus their mean. Of 5,902 photos of birds (CUB,
/// MobileNet v1) four have another one as similar, which is the same picture; a copy made smaller (60 %) or compressed
/// again (quality 40) has .68 to .9, like different photos of one species.
inline constexpr double kTwinSimilarity = 0.95;
inline constexpr double kTwinCosine = 0.98;

/// Returns pairs of enrolled images that are almost the same picture, in one class or in two, most similar first, at
/// most 1,000. None if more than 5,000 images are enrolled: the work is quadratic.
std::vector<TwinExamples> find_twins(const RecognizerSnapshot& snapshot);

}  // namespace protocom
