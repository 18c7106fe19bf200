#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/split.h"
#include "images/skipped_files.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// One image of a dataset on disk.
struct ImageItem {
  std::string id;              ///< unique: its path below the root (CUB, miniImageNet: below images/)
  std::filesystem::path path;  ///< its file
  int64_t label = 0;           ///< index into ImageDataset::class_names
  std::string row = {};        ///< of a box in its file, for messages (Crop::where)
};

/// Labelled images on disk and the split of their classes. Nothing is decoded.
struct ImageDataset {
  std::vector<std::string> class_names;            ///< [c]
  std::vector<Split> class_split;                  ///< [c]
  std::map<std::string, std::string> class_title;  ///< class name -> display name, if the dataset has one ("goose")
  std::vector<ImageItem> items;                    ///< sorted by class, then id
  SkippedFiles skipped = {};                       ///< files in the class folders and beside them that were not used
  std::vector<std::string> empty_classes = {};     ///< classes without images or without a folder, which are left out
};

/// The layouts of datasets on disk.
enum class Layout {
  kAuto,          ///< by the folder's contents
  kFolder,        ///< <class>/<image>, folders below a class allowed; or <split>/<class>/<image> with base, val, novel
                  ///< (train, val, test)
  kTinyImageNet,  ///< train/<wnid>/images/*.JPEG, wnids.txt, words.txt; val/ with val_annotations.txt and test/ are not
                  ///< used
  kCub,           ///< CUB_200_2011/{images.txt,image_class_labels.txt,classes.txt,images/}, or that folder's parent
  kMiniImageNet,  ///< images/ and train.csv, val.csv, test.csv with the columns filename,label
  kIlsvrc,        ///< <wnid>/*.JPEG or train/<wnid>/*.JPEG, for a bundled class list of miniImageNet or tieredImageNet
  kList           ///< images without folders of classes, and a list of their classes (image_list_in)
};

/// Parses "auto", "folder", "tiny-imagenet", "cub", "mini-imagenet", "ilsvrc", "list". Throws UsageError.
Layout parse_layout(std::string_view text);
/// Returns these words.
std::string_view to_string(Layout layout);

/// How a reader uses a dataset's own split.
enum class SplitUse {
  kRequired,
  kOptional,  ///< without one all classes are base
  kIgnored    ///< all classes are base, whatever the split
};

/// How to find and divide a dataset.
struct ImageDatasetOptions {
  Layout layout = Layout::kAuto;
  std::optional<std::filesystem::path> split;  ///< see read_split; classes it does not name are left out
  /// "cub" (class index i from 0: i even base, i mod 4 = 1 val, i mod 4 = 3 novel), "mini-imagenet" or
  /// "tiered-imagenet". If this and `split` are empty, the layout's own split is used: kMiniImageNet's three files,
  /// "cub" for kCub, else a split.csv in the folder, else kFolder's split folders.
  std::string standard_split;
  SplitUse split_use = SplitUse::kRequired;
  ListChoices lists = {};
  bool strict = false;  ///< throw for classes of the split without images, instead of leaving them out with a warning
};

/// Lists a dataset; files count as images by their suffix (is_image_name). Classes without images, and missing classes
/// of a split file, are left out and logged. Throws Error in one sentence, with file and line if there is one: missing
/// folder, no class with images, missing file that was named, CSV without a column, class in two splits, a standard
/// split naming missing classes (up to ten listed), no split known. Throws UsageError for `split` and `standard_split`
/// together.
ImageDataset list_images(const std::filesystem::path& root, const ImageDatasetOptions& options);

/// Returns the layout that kAuto would use. Throws Error if `root` is not a folder.
Layout detect_layout(const std::filesystem::path& root, const ListChoices& lists = {});

}  // namespace protocom
