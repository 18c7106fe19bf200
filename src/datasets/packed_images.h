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

/// All images of a dataset, decoded to one size: what training and extraction read. Memory-mapped when it comes from a
/// file.
struct PackedImages {
  Array pixels;                          ///< uint8 [n, size, size, 3], RGB, upright (read-only when mapped)
  std::vector<int64_t> labels;           ///< [n]
  std::vector<std::string> class_names;  ///< [c]
  std::vector<Split> class_split;        ///< [c]
  std::vector<std::string> image_ids;    ///< [n]
  std::string content_hash;  ///< of pixels, labels, names and split: equal content, equal hash, whatever the path
  int64_t resize = 0;        ///< pixels of the files' shorter side before the crop; 0: image_size()
  bool squeeze = false;      ///< both sides were resized to that, whatever the ratio

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
  bool squeeze = false;  ///< both sides are resized to that, whatever the ratio
  int threads = 0;       ///< decoding threads; 0: all usable cores
  bool strict = false;   ///< throw at the first unreadable image, instead of leaving such out with a warning each
  /// Where pixels are kept until they are written: a nameless file in this folder, so that a dataset larger than the
  /// memory can be packed (the folder needs room for the pixels). Empty: in memory.
  std::filesystem::path scratch_folder;
};

/// Decodes every image (read_square_image) on several threads. Leaves out images that cannot be read, and classes of
/// which nothing is left, and logs how many; warns of images that are the same in classes of two splits. Throws Error
/// that names the first unreadable image where it is strict or no image can be read; UsageError unless image_size
/// is 1..4096 and resize at least that (or 0).
PackedImages pack_images(const ImageDataset& dataset, const PackOptions& options, Progress& progress);

/// One safetensors file (`pixels`, `labels`; names, split, ids and the header in its metadata), atomically. The pixels
/// are not copied. Throws Error.
void write_pack(const std::filesystem::path& path, const PackedImages& images, const Provenance& provenance);

/// Maps a pack: opening it costs the names and labels, pixels are read when they are used. Throws Error when it is not
/// one, or its parts do not fit one another.
PackedImages read_pack(const std::filesystem::path& path);

/// True when `path` is a file with the header of a pack, as opposed to the folder of a dataset.
bool is_pack(const std::filesystem::path& path);

/// content_hash computed again from pixels, labels, names and split (reads every pixel). A damaged file gives another
/// one than it carries.
std::string hash_content(const PackedImages& images);

}  // namespace protocom
