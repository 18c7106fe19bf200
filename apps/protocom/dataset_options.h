#pragma once
#include <memory>
#include <string>

#include "cli.h"
#include "protocom/data/image_source.h"

namespace protocom::cli {

/// The options that say where images lie and how their classes are divided, the same in every command that reads them.
struct DatasetOptions {
  std::string images;  ///< a folder, or a pack where the command takes one
  std::string layout{to_string(ImageDatasetOptions{}.layout)};
  std::string split;
  std::string standard_split;

  /// The library's form. Throws UsageError for an unknown layout.
  [[nodiscard]] ImageDatasetOptions to_library() const;
};

/// Adds `images` (also --images), --layout, --split and --standard-split. `options` must outlive the command.
void add_dataset_options(CLI::App& command, DatasetOptions& options, const std::string& images_help);

/// The images of a pack, or of a folder packed in memory at `image_size` pixels a side (0: see ImageSource). Adds the
/// content's hash to the inputs of `provenance`.
PackedImages load_images(const DatasetOptions& source, int64_t image_size, Provenance& provenance);

}  // namespace protocom::cli
