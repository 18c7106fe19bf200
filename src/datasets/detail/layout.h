#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/class_folders.h"
#include "datasets/image_dataset.h"
#include "datasets/split.h"

namespace protocom::layout {

/// A class as found in a layout, before splits.
struct RawClass {
  std::string name;
  std::string title;             ///< display name; may be empty
  std::optional<Split> split;    ///< the layout's own split
  std::filesystem::path place;   ///< its folder, or the file that names it, for messages
  std::vector<ImageItem> items;  ///< labels not set yet
  SkippedFiles skipped = {};     ///< in its folder
};

/// Input of a layout: the requested classes (null: all) and where they are.
struct Request {
  std::filesystem::path root;
  const SplitTable* wanted = nullptr;
  ListChoices lists = {};

  [[nodiscard]] bool includes(const std::string& name) const { return wanted == nullptr || wanted->count(name) > 0; }
};

std::vector<RawClass> list_folder(const Request& request);
std::vector<RawClass> list_tiny_imagenet(const Request& request);
std::vector<RawClass> list_cub(const Request& request);
std::vector<RawClass> list_mini_imagenet(const Request& request);
/// Whether a folder has images beside lists of three splits, one of which may be missing; a single train.csv is an
/// ordinary list.
bool is_mini_imagenet(const std::filesystem::path& root);
std::vector<RawClass> list_ilsvrc(const Request& request);
/// Reads the list of images and classes in the folder (image_list_in).
std::vector<RawClass> list_of_list(const Request& request);
/// Returns the classes of that list, with the images below its folder.
std::vector<RawClass> classes_of_list(const std::filesystem::path& list, const Request& request);

/// Returns the classes by the keywords of the photos (list_by_keywords), as ListChoices::classes_from states.
std::vector<RawClass> classes_of_keywords(const Request& request);

/// Returns the folder with images.txt: `root` or root/CUB_200_2011; empty if there is none.
std::filesystem::path cub_folder(const std::filesystem::path& root);
/// Returns the folder of wnid folders: root/train or root; empty if there is none.
std::filesystem::path wnid_folder(const std::filesystem::path& root);

/// Whether `root` has the folders base, val, novel (or train, test, ...) with class folders and no class is in two of
/// them.
bool has_disjoint_splits(const std::filesystem::path& root, const ListChoices& lists);

/// Returns the parents of the class folders of list_folder: the root, or base, val, novel (or train, test, ...) in it.
std::vector<std::filesystem::path> class_parents(const Request& request);
/// Returns the files in the folder of a dataset or beside its class folders that belong to no class: images, other
/// files that are neither hidden nor lists that protocom reads (such as `split_files`), and the content of folders that
/// no walk enters.
SkippedFiles files_beside_classes(const std::filesystem::path& root, const std::vector<RawClass>& classes,
                                  const std::vector<std::filesystem::path>& split_files);
/// Returns all images at any depth below `folder`, sorted by id; ids are relative to `root`.
std::vector<ImageItem> images_below(const std::filesystem::path& folder, const std::filesystem::path& root);
/// Adds the images of the folders that are the classes' places (lists are not), each real folder to one class, and
/// counts the other files in them.
void add_images(std::vector<RawClass>& classes, const std::filesystem::path& root);

}  // namespace protocom::layout
