#pragma once
#include <filesystem>
#include <vector>

#include "protocom/enrol_sources.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Returns the requests of an enrolment, one per class, with attributes and texts read. Throws UsageError if the
/// sources name no class or several kinds of sources, if texts lack their encoder, and for a new class about which
/// nothing is known; Error for files that cannot be read.
std::vector<EnrolRequest> requests_of_sources(const EnrolSources& sources, Recognizer& recognizer);

/// Returns the labelled images of a folder, a list, a file of features or a named class, one request per class,
/// ignoring other information on classes. Throws UsageError unless exactly one of these is given, Error for files that
/// cannot be read.
std::vector<EnrolRequest> labelled_images(const EnrolSources& sources, const RecognizerFile& file);

/// Determines what a path of labelled images is: a folder, a list of images (.csv, .tsv, .json, .jsonl), else a file of
/// features. Throws Error if it does not exist.
EnrolSources sources_at(const std::filesystem::path& path);

}  // namespace protocom
