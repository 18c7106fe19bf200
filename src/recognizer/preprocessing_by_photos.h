#pragma once
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// A preset (parse_preprocessing) for an encoder that does not say what images it takes: the one by which most of a few
/// of these photos are nearest to the mean of their own class, itself left out. Says in the log which it is, by how
/// many photos, and whether others do as well. Empty if there are not two photos of each of two classes. Throws what
/// try_preprocessing throws.
std::string preprocessing_by_photos(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes,
                                    Progress& progress);

/// Warns where another preset is clearly better for these photos than `parts.preprocessing`, of an encoder that does
/// not say what images it takes. Does nothing if it states that, or if there are too few photos.
void compare_preprocessing(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes, Progress& progress);

}  // namespace protocom
