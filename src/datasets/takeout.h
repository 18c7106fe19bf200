#pragma once
#include <filesystem>
#include <vector>

namespace protocom {

/// The albums of Google Photos in what Google Takeout packs: the folders of `folder`, or of Takeout and Google Photos
/// in it, but those of years ("Photos from 2024"), which hold the photos of all albums again. Empty: it is not such a
/// folder, since none is a year's, or an album's in Takeout or Google Photos, with a photo's .json in it.
std::vector<std::filesystem::path> takeout_albums(const std::filesystem::path& folder);

}  // namespace protocom
