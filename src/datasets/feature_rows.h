#pragma once
#include <filesystem>

#include "base/array.h"

namespace protocom {

/// Reads only the features [n, d] of a file that read_features() reads; labels may be missing. Throws Error.
Array read_feature_rows(const std::filesystem::path& path);

}  // namespace protocom
