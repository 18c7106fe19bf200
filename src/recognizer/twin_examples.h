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
  double similarity = 0;  ///< cosine of the features less the mean of all
};

/// From which similarity on two images are twins, of the features and of the features less their mean. Of 5,902 photos
/// of birds (CUB, MobileNet v1) four have another one that is as much like them. That is the same picture; a copy that
/// was made smaller (60 %) or compressed again (quality 40) has .68 to .9, as different photos of one species have.
inline constexpr double kTwinSimilarity = 0.95;
inline constexpr double kTwinCosine = 0.98;

/// Pairs of enrolled images that are almost the same picture, in one class or in two, the most similar first, at most
/// 1,000. None if more than 5,000 images are enrolled: the work grows with the square of their number.
std::vector<TwinExamples> find_twins(const RecognizerSnapshot& snapshot);

}  // namespace protocom
