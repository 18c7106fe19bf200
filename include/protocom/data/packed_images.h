#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"
#include "protocom/core/progress.h"
#include "protocom/data/image_dataset.h"

namespace protocom {

/// All images of a dataset, decoded to one size: what training and extraction read. Memory-mapped when it comes from a file.
struct PackedImages {
  at::Tensor pixels;                     ///< uint8 [n, size, size, 3], RGB, upright (read-only when mapped)
  at::Tensor labels;                     ///< int64 [n]
  std::vector<std::string> class_names;  ///< [c]
  std::vector<Split> class_split;        ///< [c]
  std::vector<std::string> image_ids;    ///< [n]
  std::string content_hash;              ///< of pixels, labels and names: equal content, equal hash, whatever the path

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(image_ids.size()); }
  [[nodiscard]] int64_t image_size() const { return pixels.size(1); }
};

/// How images are packed.
struct PackOptions {
  int64_t image_size = 84;
  int threads = 0;               ///< decoding threads; 0: all usable cores
  bool skip_unreadable = false;  ///< leave unreadable images out with a warning each, instead of throwing
};

/// Decodes every image (resize_and_crop) on several threads. Throws Error that names the first unreadable image.
PackedImages pack_images(const ImageDataset& dataset, const PackOptions& options, Progress& progress);

/// One safetensors file (`pixels`, `labels`; names, split, ids and the header in its metadata). Throws Error.
void write_pack(const std::filesystem::path& path, const PackedImages& images, const Provenance& provenance);

/// Maps a pack. Throws Error when it is not one, or is damaged.
PackedImages read_pack(const std::filesystem::path& path);

}  // namespace protocom
