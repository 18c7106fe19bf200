#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/skipped_files.h"

namespace protocom::v0 {

/// An unlabelled image to label next.
struct Suggestion {
  int64_t row = 0;         ///< index among the images given, or the readable images of a folder
  std::string image;       ///< its path, or its row number as text
  std::string answer;      ///< the most probable class
  double probability = 0;  ///< of `answer`, given that the image is of one of the classes
  std::string runner_up;   ///< the second one; empty if there is a single class
  double doubt = 0;        ///< 1 - (probability of the first class - that of the second), in [0, 1]
  double share = 0;        ///< share of the doubt about all images that it covers beyond those before it, in [0, 1]
};

/// Images to label next, most useful first.
struct Suggestions {
  std::vector<Suggestion> images;
  int64_t looked_at = 0;         ///< number of images that were read and not enrolled
  int64_t already_enrolled = 0;  ///< number left out
  SkippedFiles skipped = {};
  std::vector<UnreadableFile> unreadable = {};
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::Suggestion;
using v0::Suggestions;
}  // namespace protocom
