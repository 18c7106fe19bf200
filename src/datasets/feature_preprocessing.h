#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "images/preprocessing.h"

namespace protocom {

/// Returns the preprocessing of images stated in `details.preprocessing` of a file of features, or of a file made from
/// it; nothing for files made elsewhere or before it was stored. Throws Error if it is damaged.
std::optional<Preprocessing> read_preprocessing(const std::filesystem::path& path);

/// Returns it as details for the header of a file made from features: an empty object if there is none.
nlohmann::json preprocessing_details(const std::filesystem::path& features);

}  // namespace protocom
