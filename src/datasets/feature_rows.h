#pragma once
#include <filesystem>

#include "base/array.h"

namespace protocom {

/// The features [n, d] alone of a file that read_features() reads, whose labels may be missing. Throws Error.
Array read_feature_rows(const std::filesystem::path& path);

}  // namespace protocom
