#pragma once
#include <memory>
#include <string>

#include "cli.h"
#include "datasets/image_source.h"
#include "encoders/encoder.h"
#include "images/preprocessing.h"
#include "protocom/photo_choices.h"

namespace protocom::cli {

/// The options for the place of images and the split of their classes, the same in every command that reads images.
struct DatasetOptions {
  std::string images;  ///< a folder, or a pack if the command takes one
  Layout layout = ImageDatasetOptions{}.layout;
  std::string split;
  std::string standard_split;
  bool strict = false;
  ListChoices lists;
  BoxChoice boxes = {};  ///< for commands that take boxes

  /// Converts them to the library's options.
  [[nodiscard]] ImageDatasetOptions to_library() const;
};

/// Adds --layout. `options` must outlive the command.
void add_layout(CLI::App& command, DatasetOptions& options);
/// Adds --boxes, --min-confidence, --box-margin and --box-kinds. `boxes` must outlive the command.
void add_box_options(CLI::App& command, BoxChoice& boxes);
/// Adds --question, --annotator and --classes-from. `lists` must outlive the command.
void add_list_choices(CLI::App& command, ListChoices& lists);
/// Adds `images` (also --images), --layout, --split, --standard-split, --question, --annotator and --classes-from.
/// `options` must outlive the command.
void add_dataset_options(CLI::App& command, DatasetOptions& options, const std::string& images_help);
/// Adds --strict, for commands that use the images.
void add_strict(CLI::App& command, DatasetOptions& options);

/// Lists the images of a folder, or their boxes if there are some.
ImageDataset list_images(const DatasetOptions& source);
/// Loads the images of a pack, or of a folder packed in memory at these sizes (0: see ImageSource). Adds the content's
/// hash to the inputs of `provenance`.
PackedImages load_images(const DatasetOptions& source, const Preprocessing& sizes, Provenance& provenance);

/// Warns if images have other sizes than the encoder takes.
void warn_of_sizes(const Encoder& encoder, const PackedImages& images);

/// The help of --backbone if it is optional, and of --output.
inline constexpr const char* kBackboneHelp =
    "Image encoder: the name of an installed one (protocom encoders), ONNX, backbone of protocom pretrain, state dict "
    "(.npz, .safetensors), folder of Hugging Face, or TorchScript file (a program: load only what you would also run); "
    "default: the default encoder";
inline constexpr const char* kOutputHelp =
    "Output of an ONNX or TorchScript file to use as the feature, by name (in a tuple its index from 0)";
/// The help of --preprocess.
inline constexpr const char* kPreprocessHelp =
    "Preprocessing of an ONNX, TorchScript or weights file that does not state it: imagenet (torchvision, "
    "timm, DINOv2), clip, half (mean and std 0.5), plain (RGB in [0, 1]: the network normalises), of 224 pixels each; "
    ":size= and :resize= change one (plain:size=64)";

}  // namespace protocom::cli
