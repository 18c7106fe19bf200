#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/feature_set.h"
#include "io/artefact.h"

namespace protocom {

/// The last feature maps of labelled images (Backbone::forward_maps), for what looks at places of an image: kept beside
/// the features, memory-mapped when they come from a file.
struct FeatureMaps {
  Array maps;                          ///< float16 [n, c, h, w], read-only when mapped
  std::vector<std::string> image_ids;  ///< [n]
  std::string backbone_hash;           ///< hash of the backbone's file; empty when unknown
};

/// One safetensors file (`maps`; ids and the header in its metadata), atomically. The maps are not copied. Throws
/// Error.
void write_feature_maps(const std::filesystem::path& path, const FeatureMaps& maps, const Provenance& provenance);

/// Maps the file: opening it costs the ids, maps are read when they are used. Throws Error when it is not one.
FeatureMaps read_feature_maps(const std::filesystem::path& path);

/// Throws Error unless maps and features are those of the same images in the same order, by the same backbone
/// where both say which.
void check_same_images(const FeatureMaps& maps, const FeatureSet& features);

}  // namespace protocom
