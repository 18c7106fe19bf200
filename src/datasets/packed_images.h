#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/progress.h"
#include "datasets/image_dataset.h"
#include "images/image.h"
#include "images/resampling.h"
#include "io/artefact.h"

namespace protocom {

/// All images of a dataset, decoded to one size: the input of training and extraction. Memory-mapped if it comes from a
/// file.
struct PackedImages {
  Array pixels;                          ///< uint8 [n, size, size, 3], RGB, upright (read-only if mapped)
  std::vector<int64_t> labels;           ///< [n]
  std::vector<std::string> class_names;  ///< [c]
  std::vector<Split> class_split;        ///< [c]
  std::vector<std::string> image_ids;    ///< [n]
  std::string content_hash;  ///< of pixels, labels, names and split: equal for equal content, whatever the path
  int64_t resize = 0;        ///< pixels of the files' shorter side before the crop; 0: image_size()
  bool squeeze = false;      ///< both sides were resized to that, ignoring the aspect ratio

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(image_ids.size()); }
  [[nodiscard]] int64_t image_size() const { return pixels.size(1); }
  [[nodiscard]] Image image(int64_t row) const;
  [[nodiscard]] int64_t shorter_side() const { return resize > 0 ? resize : image_size(); }
};

/// How images are packed.
struct PackOptions {
  int64_t image_size = 84;
  int64_t resize = 0;  ///< pixels of the shorter side before the crop; 0: image_size
  Resampling resampling = Resampling::kBilinear;
  bool squeeze = false;  ///< both sides are resized to that, ignoring the aspect ratio
  int threads = 0;       ///< decoding threads; 0: all usable cores
  bool strict = false;   ///< throw at the first unreadable image, instead of leaving out each with a warning
  /// Where pixels are kept until they are written: an unnamed file in this folder, so that a dataset larger than the
  /// memory can be packed (the folder needs space for the pixels). Empty: in memory.
  std::filesystem::path scratch_folder;
};

/// Decodes every image (read_square_image) on several threads. Leaves out unreadable images, and classes of which
/// nothing is left, and logs how many; warns of equal images in classes of two splits. Throws Error that names the
/// first unreadable image if `strict` or if no image can be read; UsageError unless image_size is 1..4096 and resize at
/// least that (or 0).
PackedImages pack_images(const ImageDataset& dataset, const PackOptions& options, Progress& progress);

/// Writes one safetensors file (`pixels`, `labels`; names, split, ids and the header in its metadata), atomically. The
/// pixels are not copied. Throws Error.
void write_pack(const std::filesystem::path& path, const PackedImages& images, const Provenance& provenance);

/// Maps a pack: opening it reads the names and labels, pixels are read when they are used. Throws Error if it is not a
/// pack, or its parts do not match one another.
PackedImages read_pack(const std::filesystem::path& path);

/// Whether `path` is a file with the header of a pack, as opposed to the folder of a dataset.
bool is_pack(const std::filesystem::path& path);

/// Recomputes content_hash from pixels, labels, names and split (reads every pixel). For a damaged file it differs from
/// the stored one.
std::string hash_content(const PackedImages& images);

}  // namespace protocom
