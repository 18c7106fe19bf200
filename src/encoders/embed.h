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
  std::vector<size_t> numbers;             ///< [n], ascending: indices of the readable files
  std::vector<std::string> hashes;         ///< [n], hash_bytes of each file's bytes
  Array features;                          ///< float32 [n, d]
  std::vector<UnreadableFile> unreadable;  ///< the other files
};

/// The features of one batch, with the images as given to the encoder.
struct EmbeddedBatch : EmbeddedFiles {
  std::vector<Image> images;  ///< [n], square
};

/// Decodes image files with the encoder's preprocessing (decode_square_image) and extracts their features. `take` gets
/// batch after batch, in the order given, on another thread than the caller's and never two at once. While it handles a
/// batch, the encoder computes the next one and all usable cores decode the one after it: three are in memory. An
/// unreadable file does not stop the others. Throws what extract_features and `take` throw.
void embed_batches(Encoder& encoder, const std::vector<std::filesystem::path>& paths, const ExtractOptions& options,
                   const std::function<void(EmbeddedBatch&& batch)>& take, Progress& progress);

/// Embeds all files, without returning the images.
EmbeddedFiles embed_files(Encoder& encoder, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress);

}  // namespace protocom
