#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/feature_set.h"
#include "io/artefact.h"

namespace protocom {

/// The last feature maps of labelled images (Backbone::forward_maps), for methods that use positions in an image:
/// stored beside the features, memory-mapped if they come from a file.
struct FeatureMaps {
  Array maps;                          ///< float16 [n, c, h, w], read-only if mapped
  std::vector<std::string> image_ids;  ///< [n]
  std::string backbone_hash;           ///< hash of the backbone's file; empty if unknown
};

/// Writes one safetensors file (`maps`; ids and the header in its metadata), atomically. The maps are not copied.
/// Throws Error.
void write_feature_maps(const std::filesystem::path& path, const FeatureMaps& maps, const Provenance& provenance);

/// Maps the file: opening it reads the ids, maps are read when they are used. Throws Error if it is not such a file.
FeatureMaps read_feature_maps(const std::filesystem::path& path);

/// Throws Error unless maps and features are of the same images in the same order, and by the same backbone if both
/// state it.
void check_same_images(const FeatureMaps& maps, const FeatureSet& features);

}  // namespace protocom
