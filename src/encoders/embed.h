#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "encoders/extract.h"
#include "images/image.h"
#include "images/image_files.h"

namespace protocom {

/// Features of image files.
struct EmbeddedFiles {
  std::vector<size_t> numbers;             ///< [n], ascending: which of the files given could be read
  std::vector<std::string> hashes;         ///< [n], hash_bytes of each file's bytes
  Array features;                          ///< float32 [n, d]
  std::vector<UnreadableFile> unreadable;  ///< the others
};

/// Those of one batch, with the images as the encoder saw them.
struct EmbeddedBatch : EmbeddedFiles {
  std::vector<Image> images;  ///< [n], square
};

/// Decodes image files by the encoder's preprocessing (decode_square_image) and extracts their
/// features. `take` gets batch after batch, in the order given, on another thread than the caller's and never two at
/// once. While it handles a batch, the encoder computes the next one and all usable cores decode the one after it:
/// three are in memory. A file that cannot be read does not stop the others. Throws what extract_features and `take`
/// throw.
void embed_batches(Encoder& encoder, const std::vector<std::filesystem::path>& paths, const ExtractOptions& options,
                   const std::function<void(EmbeddedBatch&& batch)>& take, Progress& progress);

/// All of them together, without the images.
EmbeddedFiles embed_files(Encoder& encoder, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress);

}  // namespace protocom
