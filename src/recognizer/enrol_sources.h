#pragma once
#include <filesystem>
#include <vector>

#include "protocom/enrol_sources.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// The requests of an enrolment, one for each class; attributes and texts have been read. Throws
/// UsageError where the sources name no class or several kinds of them, where texts lack their encoder, and for a new
/// class of which nothing is known; Error for files that cannot be read.
std::vector<EnrolRequest> requests_of_sources(const EnrolSources& sources, Recognizer& recognizer);

/// The labelled images to test on: of a folder (of splits the one for it, split_for), a list, a file of features or a
/// class by its name, a request for each class, without what else is said of classes. Throws UsageError unless one of
/// these is given, Error for files that cannot be read.
std::vector<EnrolRequest> labelled_images(const EnrolSources& sources, const RecognizerFile& file);

/// What a path of labelled images is: a folder, a list of images (.csv, .tsv, .json, .jsonl), else a file of features.
/// Throws Error if there is nothing.
EnrolSources sources_at(const std::filesystem::path& path);

}  // namespace protocom
