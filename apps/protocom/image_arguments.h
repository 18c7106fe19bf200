#pragma once
#include <string>
#include <vector>

#include "protocom/data/image_files.h"

namespace protocom::cli {

/// Images as they were named on the command line, with the lines of the standard input in place of "-".
std::vector<std::string> with_listed(const std::vector<std::string>& images);

/// Says which images could not be read and how many files are no images, after the others were answered. `unreadable`:
/// of found.paths. Throws Error when there is an image that could not be read.
void account_for(const FoundImages& found, const std::vector<UnreadableFile>& unreadable);

}  // namespace protocom::cli
