#pragma once
#include <filesystem>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom {

/// The image files of all requests in one list, and whose they are.
struct RequestFiles {
  std::vector<std::filesystem::path> paths;
  std::vector<size_t> owner;  ///< [paths], number of the request
  SkippedFiles skipped;
  std::vector<UnreadableFile> unreadable;  ///< files that are not readable images
};

/// Walks the folders of requests. A request without an image does not stop the others.
RequestFiles find_files(const std::vector<EnrolRequest>& requests);

}  // namespace protocom
