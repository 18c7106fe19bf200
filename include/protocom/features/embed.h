#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "protocom/core/progress.h"
#include "protocom/data/image_files.h"
#include "protocom/features/extract.h"
#include "protocom/nn/backbone.h"

namespace protocom {

/// Features of image files.
struct EmbeddedFiles {
  std::vector<std::filesystem::path> paths;  ///< [n], those that could be read, in the order given
  std::vector<std::string> hashes;           ///< [n], hash_bytes of each file's bytes
  at::Tensor features;                       ///< float32 [n, d] on the CPU
  std::vector<UnreadableFile> unreadable;    ///< the others
};

/// Decodes image files by the backbone's preprocessing (read_image_bytes, decode_square_image) and extracts their
/// features, one batch in memory at a time. A file that cannot be read does not stop the others. Throws what
/// extract_features throws.
EmbeddedFiles embed_files(Backbone& backbone, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress);

}  // namespace protocom
