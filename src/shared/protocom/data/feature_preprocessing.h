#pragma once
#include <filesystem>
#include <optional>

#include "protocom/core/preprocessing.h"
#include "protocom/data/feature_set.h"

namespace protocom {

/// write_features with what the images went through before the backbone, in the header.
void write_features(const std::filesystem::path& path, const FeatureSet& features, const Provenance& provenance,
                    const Preprocessing& preprocessing);

/// What a file of features, or what was made from it, says of its images in `details.preprocessing`; nothing for files
/// made elsewhere or before it was kept. Throws Error for a damaged one.
std::optional<Preprocessing> read_preprocessing(const std::filesystem::path& path);

/// The same as details for the header of what is made from a file of features: an empty object when it says nothing.
nlohmann::json preprocessing_details(const std::filesystem::path& features);

}  // namespace protocom
