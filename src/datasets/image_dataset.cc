#include "datasets/image_dataset.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/clean_name.h"
#include "base/enum_words.h"
#include "base/error.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "datasets/box_layouts.h"
#include "datasets/boxed_dataset.h"
#include "datasets/detail/layout.h"
#include "datasets/image_list.h"
#include "datasets/standard_split.h"
#include "images/other_media.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr EnumWord<Layout> kLayouts[] = {{Layout::kAuto, "auto"},
                                         {Layout::kFolder, "folder"},
                                         {Layout::kTinyImageNet, "tiny-imagenet"},
                                         {Layout::kCub, "cub"},
                                         {Layout::kMiniImageNet, "mini-imagenet"},
                                         {Layout::kIlsvrc, "ilsvrc"},
                                         {Layout::kList, "list"}};

/// A file of this name in the folder of a dataset defines its split, unless the caller or the layout itself does.
constexpr const char* kSplitFile = "split.csv";

void check_folder(const fs::path& root) {
  refuse_other_media(root);
  if (!fs::exists(root)) fail("no such folder: {}", root.string());
  if (!fs::is_directory(root)) fail("{} is a file, expected the folder of a dataset", root.string());
}

using Lister = std::vector<layout::RawClass> (*)(const layout::Request&);

Lister choose_lister(Layout layout) {
  static const std::map<Layout, Lister> kAll = {{Layout::kTinyImageNet, &layout::list_tiny_imagenet},
                                                {Layout::kCub, &layout::list_cub},
                                                {Layout::kMiniImageNet, &layout::list_mini_imagenet},
                                                {Layout::kIlsvrc, &layout::list_ilsvrc},
                                                {Layout::kList, &layout::list_of_list},
                                                {Layout::kFolder, &layout::list_folder}};
  return kAll.at(layout);
}

/// The split the caller requested, its name in messages, and its files; no table if it is the layout's own.
struct AskedSplit {
  std::optional<SplitTable> table;
  std::string name;
  std::vector<fs::path> files = {};
};

AskedSplit asked_split(const ImageDatasetOptions& options, Layout layout, const fs::path& root) {
  if (options.split_use == SplitUse::kIgnored) return {};
  if (options.split && !options.standard_split.empty())
    fail_usage("give either a split file or a standard split, not both");
  if (options.split) return {read_split(*options.split), options.split->string(), split_files(*options.split)};
  if (options.standard_split == "cub") {
    if (layout != Layout::kCub)
      fail_usage("the standard split 'cub' is for CUB-200-2011, this is a {} dataset", to_string(layout));
    return {};
  }
  if (!options.standard_split.empty())
    return {standard_split(options.standard_split), "the standard split " + options.standard_split};
  const fs::path own = root / kSplitFile;
  if (layout != Layout::kCub && layout != Layout::kMiniImageNet && fs::exists(own))
    return {read_split(own), own.string()};
  return {};
}

constexpr size_t kShown = 10;  ///< names in a warning

/// Names of a split and of folders that do not match.
struct Unmatched {
  std::vector<std::string> missing;  ///< classes of the split that do not exist
  std::vector<std::string> unnamed;  ///< class folders that the split does not name
};

layout::Request request_for(const fs::path& root, const AskedSplit& asked, const ImageDatasetOptions& options) {
  return {root, asked.table ? &*asked.table : nullptr, options.lists};
}

/// Compares names. Only kFolder has unnamed ones: where other layouts have more classes than a split, that is intended.
Unmatched match_names(const AskedSplit& asked, const std::vector<layout::RawClass>& classes, Layout layout,
                      const layout::Request& request) {
  Unmatched names;
  if (!asked.table) return names;
  std::set<std::string> listed;
  for (const auto& item : classes) listed.insert(item.name);
  for (const auto& entry : *asked.table) {
    if (listed.count(entry.first) == 0) names.missing.push_back(entry.first);
  }
  if (layout != Layout::kFolder) return names;
  for (const fs::path& parent : layout::class_parents(request)) {
    for (const fs::path& folder : folders_in(parent)) {
      const std::string name = clean_name(folder.filename().string());
      if (asked.table->count(name) == 0) names.unnamed.push_back(name);
    }
  }
  return names;
}

/// Returns the first of some names, with the `others` that were probably meant.
std::string with_meant(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::vector<std::string> hints;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    const std::string meant = did_you_mean(names[i], others);
    if (!meant.empty()) hints.push_back(fmt::format("'{}'{}", names[i], meant));
  }
  const std::string shown = first_of(names, kShown);
  return hints.empty() ? shown : fmt::format("{} ({})", shown, fmt::join(hints, " "));
}

/// Reports missing classes. Published figures are compared on a standard split, so it must be complete.
void report_missing(const Unmatched& names, const AskedSplit& asked, const ImageDatasetOptions& options,
                    const fs::path& root) {
  if (names.missing.empty()) return;
  const size_t all = asked.table->size();
  const std::string what =
      fmt::format("{} names {} of {} classes that are not in {}", asked.name, names.missing.size(), all, root.string());
  const std::string which = with_meant(names.missing, names.unnamed);
  if (names.missing.size() == all || options.strict || !options.standard_split.empty()) fail("{}: {}", what, which);
  logger().warn("{}; ignoring them: {}", what, which);
}

void warn_of_unnamed(const Unmatched& names, const AskedSplit& asked, const fs::path& root) {
  if (names.unnamed.empty()) return;
  logger().warn("ignoring folders in {} that are not in {}, {} of them: {}", root.string(), asked.name,
                names.unnamed.size(), with_meant(names.unnamed, names.missing));
}

/// Removes classes without images: CUB's lists name all its classes even if only some of the images exist, and a folder
/// may be waiting for its images.
std::vector<std::string> drop_empty(std::vector<layout::RawClass>& classes, const ImageDatasetOptions& options,
                                    const fs::path& root) {
  std::vector<std::string> empty;
  for (const auto& listed : classes) {
    if (listed.items.empty()) empty.push_back(listed.name);
  }
  if (empty.empty()) return empty;
  if (empty.size() == classes.size()) {
    fail("{} has no class with images: found no {} file in {}", root.string(), image_kinds(),
         classes.front().place.string());
  }
  if (options.strict)
    fail("{} of {} classes have no images: {}", empty.size(), classes.size(), first_of(empty, kShown));
  logger().warn("ignoring {} of {} classes, which have no images: {}", empty.size(), classes.size(),
                first_of(empty, kShown));
  classes.erase(std::remove_if(classes.begin(), classes.end(), [](const auto& listed) { return listed.items.empty(); }),
                classes.end());
  return empty;
}

Split split_of(const layout::RawClass& listed, const AskedSplit& asked, const ImageDatasetOptions& options,
               const fs::path& root) {
  if (options.split_use == SplitUse::kIgnored) return Split::kBase;
  if (asked.table) return asked.table->at(listed.name);
  if (listed.split) return *listed.split;
  if (options.split_use == SplitUse::kOptional) return Split::kBase;
  fail(
      "{0} has no split into base, val and novel classes: give a split file (--split; `protocom split` draws one), put "
      "a {1} there, or name a standard split (--standard-split)",
      root.string(), kSplitFile);
}

bool is_before(const ImageItem& a, const ImageItem& b) { return a.id < b.id; }

}  // namespace

Layout parse_layout(std::string_view text) { return value_of(kLayouts, text, "layout"); }

std::string_view to_string(Layout layout) { return word_of(kLayouts, layout); }

Layout detect_layout(const fs::path& root, const ListChoices& lists) {
  check_folder(root);
  if (!layout::cub_folder(root).empty()) return Layout::kCub;
  if (fs::exists(root / "wnids.txt") && fs::is_directory(root / "train")) return Layout::kTinyImageNet;
  if (layout::is_mini_imagenet(root)) return Layout::kMiniImageNet;
  if (layout::has_disjoint_splits(root, lists)) return Layout::kFolder;
  if (image_list_in(root, lists)) return Layout::kList;
  return layout::wnid_folder(root) == root / "train" ? Layout::kIlsvrc : Layout::kFolder;
}

namespace {

/// Replaces images by their boxes.
void crop_items(const BoxFile& file, const fs::path& path, std::vector<layout::RawClass>& classes) {
  std::vector<fs::path> photos;
  for (const auto& listed : classes) {
    for (const ImageItem& item : listed.items) photos.push_back(item.path);
  }
  std::map<fs::path, std::vector<Crop>> boxes;
  for (Crop& crop : crop_photos(photos, file, path)) boxes[crop.photo].push_back(std::move(crop));
  for (auto& listed : classes) {
    for (const ImageItem& item : std::exchange(listed.items, {})) {
      for (const Crop& crop : boxes[item.path])
        listed.items.push_back(
            {item.id + crop.name.string().substr(item.path.string().size()), crop.name, 0, crop.where});
    }
  }
}

/// Makes a class for each kind of box, from the images below the root.
std::vector<layout::RawClass> classes_of_boxes(const BoxFile& file, const fs::path& path,
                                               const layout::Request& request) {
  std::vector<fs::path> photos;
  for (const ImageItem& item : layout::images_below(request.root, request.root)) photos.push_back(item.path);
  const size_t root = (request.root / "").generic_string().size();
  std::map<std::string, layout::RawClass> classes;
  for (const Crop& crop : crop_photos(photos, file, path)) {
    if (crop.kind.empty() || !request.includes(crop.kind)) continue;
    layout::RawClass& owner =
        classes.try_emplace(crop.kind, layout::RawClass{crop.kind, "", std::nullopt, path, {}}).first->second;
    owner.items.push_back({crop.name.generic_string().substr(root), crop.name, 0, crop.where});
  }
  std::vector<layout::RawClass> all;
  for (auto& entry : classes) all.push_back(std::move(entry.second));
  return all;
}

/// Makes the dataset from classes as found.
ImageDataset dataset_of(std::vector<layout::RawClass> classes, const AskedSplit& asked, Layout layout,
                        const fs::path& root, const ImageDatasetOptions& options) {
  const Unmatched names = match_names(asked, classes, layout, request_for(root, asked, options));
  report_missing(names, asked, options, root);
  if (classes.empty()) fail("{} has no class with images", root.string());
  warn_of_unnamed(names, asked, root);
  ImageDataset dataset;
  dataset.empty_classes = names.missing;
  for (const auto& listed : classes) dataset.skipped.add(listed.skipped);
  if (layout == Layout::kFolder) dataset.skipped.add(layout::files_beside_classes(root, classes, asked.files));
  const std::vector<std::string> empty = drop_empty(classes, options, root);
  dataset.empty_classes.insert(dataset.empty_classes.end(), empty.begin(), empty.end());
  std::sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (auto& listed : classes) {
    std::sort(listed.items.begin(), listed.items.end(), is_before);
    for (ImageItem& item : listed.items) {
      item.label = static_cast<int64_t>(dataset.class_names.size());
      dataset.items.push_back(std::move(item));
    }
    dataset.class_split.push_back(split_of(listed, asked, options, root));
    if (!listed.title.empty()) dataset.class_title[listed.name] = listed.title;
    dataset.class_names.push_back(listed.name);
  }
  warn_of_same_but_capitals(dataset.class_names, "classes of " + root.string());
  return dataset;
}

}  // namespace

ImageDataset list_images(const fs::path& root, const ImageDatasetOptions& options) {
  check_folder(root);
  if (!options.lists.classes_from.empty() && options.layout == Layout::kAuto) {
    const AskedSplit asked = asked_split(options, Layout::kList, root);
    return dataset_of(layout::classes_of_keywords(request_for(root, asked, options)), asked, Layout::kList, root,
                      options);
  }
  const Layout layout = options.layout == Layout::kAuto ? detect_layout(root, options.lists) : options.layout;
  if (options.layout == Layout::kAuto && layout == Layout::kFolder) {
    const fs::path boxes = boxes_beside(root);
    if (!boxes.empty()) return list_boxed_images(root, options, {boxes});
  }
  const AskedSplit asked = asked_split(options, layout, root);
  return dataset_of(choose_lister(layout)(request_for(root, asked, options)), asked, layout, root, options);
}

ImageDataset list_boxed_images(const fs::path& root, const ImageDatasetOptions& options, const BoxChoice& choice) {
  check_folder(root);
  const BoxFile file = read_boxes(choice);
  Layout layout = options.layout;
  if (file.kinds_are_classes) layout = Layout::kList;
  if (layout == Layout::kAuto) layout = detect_layout(root, options.lists);
  const AskedSplit asked = asked_split(options, layout, root);
  const layout::Request request = request_for(root, asked, options);
  std::vector<layout::RawClass> classes;
  if (file.kinds_are_classes) {
    classes = classes_of_boxes(file, choice.file, request);
  } else {
    classes = choose_lister(layout)(request);
    crop_items(file, choice.file, classes);
  }
  return dataset_of(std::move(classes), asked, layout, root, options);
}

}  // namespace protocom
