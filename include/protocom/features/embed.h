#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "protocom/core/progress.h"
#include "protocom/features/extract.h"
#include "protocom/nn/backbone.h"

namespace protocom {

/// A file that could not be read and why, in one sentence that names it.
struct UnreadableFile {
  std::filesystem::path path;
  std::string reason;
};

/// Features of image files.
struct EmbeddedFiles {
  std::vector<std::filesystem::path> paths;  ///< [n], those that could be read, in the order given
  at::Tensor features;                       ///< float32 [n, d] on the CPU
  std::vector<UnreadableFile> unreadable;    ///< the others
};

/// Decodes image files to the backbone's image size (read_square_image) and extracts their features, one batch in
/// memory at a time. A file that cannot be read does not stop the others. Throws what extract_features throws.
EmbeddedFiles embed_files(Backbone& backbone, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress);

}  // namespace protocom
