#pragma once
#include <filesystem>
#include <vector>

#include "datasets/image_list.h"

namespace protocom {

/// Lists the images below a folder by the labels beside them, as in WebDataset's unpacked shards: 000001.jpg with
/// 000001.cls, a text, or 000001.json, an object with a class (label, class, ...). Images without a label are counted
/// and logged. Empty: the first image has none.
std::vector<ListedImage> list_by_sidecars(const std::filesystem::path& folder);

}  // namespace protocom
