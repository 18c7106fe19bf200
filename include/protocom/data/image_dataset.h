#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocom/data/split.h"

namespace protocom {

/// One image of a dataset on disk.
struct ImageItem {
  std::string id;              ///< unique within the dataset: its path relative to the root, '/'-separated
  std::filesystem::path path;  ///< where it lies
  int64_t label = 0;           ///< index into ImageDataset::class_names
};

/// Labelled images on disk and the split of their classes. Nothing is decoded.
struct ImageDataset {
  std::vector<std::string> class_names;           ///< [c]
  std::vector<Split> class_split;                 ///< [c]
  std::map<std::string, std::string> class_title;  ///< class name -> words for people, where the dataset has them ("goose")
  std::vector<ImageItem> items;                   ///< sorted by class, then id
};

/// The layouts that datasets have on users' disks.
enum class Layout {
  kAuto,          ///< told by what lies in the folder
  kFolder,        ///< <class>/<image>, nested folders allowed below the class
  kTinyImageNet,  ///< train/<wnid>/images/*.JPEG, wnids.txt, words.txt; val/ annotated by val_annotations.txt is not used
  kCub,           ///< CUB_200_2011/{images.txt,image_class_labels.txt,classes.txt,images/}, or that folder's parent
  kMiniImageNet,  ///< images/ and train.csv, val.csv, test.csv with `filename,label`
  kIlsvrc         ///< <wnid>/*.JPEG or train/<wnid>/*.JPEG with a bundled class list of miniImageNet or tieredImageNet
};

/// "auto", "folder", "tiny-imagenet", "cub", "mini-imagenet", "ilsvrc". Throws UsageError.
Layout parse_layout(const std::string& text);

/// How a dataset is found and divided.
struct ImageDatasetOptions {
  Layout layout = Layout::kAuto;
  std::optional<std::filesystem::path> split;  ///< see read_split; classes it does not name are left out
  std::string standard_split;                  ///< "", "cub" (class index i from 0: even base, i mod 4 = 1 val, 3 novel), "mini-imagenet", "tiered-imagenet"
};

/// Lists a dataset. Throws Error in one sentence: missing folder, class without images, CSV without a column, a split naming classes
/// that are not there (all of them listed, up to ten), no split known for the layout.
ImageDataset list_images(const std::filesystem::path& root, const ImageDatasetOptions& options);

}  // namespace protocom
