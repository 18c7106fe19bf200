#pragma once
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Chooses a preset (parse_preprocessing) for an encoder that does not state its preprocessing: the one with which most
/// of a few of these photos are nearest to the mean of their own class, computed without them. Logs which it is, for
/// how many photos, and whether others do as well. Empty unless there are two photos of each of two classes. Throws
/// what try_preprocessing throws.
std::string preprocessing_by_photos(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes,
                                    Progress& progress);

/// Warns if another preset is clearly better for these photos than `parts.preprocessing`, for an encoder that does not
/// state its preprocessing. Does nothing if it does, or if there are too few photos.
void compare_preprocessing(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes, Progress& progress);

}  // namespace protocom
