#pragma once
#include <filesystem>
#include <vector>

namespace protocom {

/// Returns the albums of Google Photos in an archive of Google Takeout: the folders of `folder`, or of Takeout and
/// Google Photos in it, except those of years ("Photos from 2024"), which contain the photos of all albums again.
/// Empty: it is not such a folder, which has a year's folder, or in Takeout or Google Photos an album's, with a photo's
/// .json in it. Throws Error if there are only folders of years.
std::vector<std::filesystem::path> takeout_albums(const std::filesystem::path& folder);

}  // namespace protocom
