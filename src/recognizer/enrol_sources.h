#pragma once
#include <vector>

#include "protocom/enrol_sources.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// What is to be enrolled in a recognizer, a request for each class; attributes and texts have been read. Throws
/// UsageError where the sources name no class or several kinds of them, where texts lack their encoder, and for a new
/// class of which nothing is known; Error for files that cannot be read.
std::vector<EnrolRequest> requests_of_sources(const EnrolSources& sources, Recognizer& recognizer);

}  // namespace protocom
