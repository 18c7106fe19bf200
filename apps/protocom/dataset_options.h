#pragma once
#include <memory>
#include <string>

#include "cli.h"
#include "protocom/core/preprocessing.h"
#include "protocom/data/image_source.h"

namespace protocom::cli {

/// The options that say where images lie and how their classes are divided, the same in every command that reads them.
struct DatasetOptions {
  std::string images;  ///< a folder, or a pack where the command takes one
  std::string layout{to_string(ImageDatasetOptions{}.layout)};
  std::string split;
  std::string standard_split;
  bool skip_unreadable = false;

  /// The library's form. Throws UsageError for an unknown layout.
  [[nodiscard]] ImageDatasetOptions to_library() const;
};

/// Adds `images` (also --images), --layout, --split and --standard-split. `options` must outlive the command.
void add_dataset_options(CLI::App& command, DatasetOptions& options, const std::string& images_help);
/// Adds --skip-unreadable, for commands that use the images.
void add_skip_unreadable(CLI::App& command, DatasetOptions& options);

/// The images of a pack, or of a folder packed in memory at these sizes (0: see ImageSource). Adds the
/// content's hash to the inputs of `provenance`.
PackedImages load_images(const DatasetOptions& source, const Preprocessing& sizes, Provenance& provenance);

/// The help of --preprocess.
inline constexpr const char* kPreprocessHelp =
    "What images a TorchScript file or bare state dict takes, where it does not say so itself: imagenet (torchvision, "
    "timm, DINOv2), clip, half (mean and std 0.5), plain:size=64 (normalisation inside); :size=, :resize= change one";

}  // namespace protocom::cli
