#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "images/preprocessing.h"

namespace protocom {

/// What a file of features, or what was made from it, says of its images in `details.preprocessing`; nothing for files
/// made elsewhere or before it was kept. Throws Error for a damaged one.
std::optional<Preprocessing> read_preprocessing(const std::filesystem::path& path);

/// The same as details for the header of what is made from a file of features: an empty object when it says nothing.
nlohmann::json preprocessing_details(const std::filesystem::path& features);

}  // namespace protocom
