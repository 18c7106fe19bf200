#include "protocom/data/image_dataset.h"

#include <algorithm>
#include <set>
#include <utility>

#include "layout.h"
#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/core/near_matches.h"
#include "protocom/data/standard_split.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr std::pair<Layout, std::string_view> kLayoutNames[] = {{Layout::kAuto, "auto"},
                                                                {Layout::kFolder, "folder"},
                                                                {Layout::kTinyImageNet, "tiny-imagenet"},
                                                                {Layout::kCub, "cub"},
                                                                {Layout::kMiniImageNet, "mini-imagenet"},
                                                                {Layout::kIlsvrc, "ilsvrc"}};

/// Found in the folder of a dataset it divides it, unless the caller or the layout itself says otherwise.
constexpr const char* kSplitFile = "split.csv";

void check_folder(const fs::path& root) {
  if (!fs::exists(root)) fail("there is no folder {}", root.string());
  if (!fs::is_directory(root))
    fail("{} is a file, expected the folder of a dataset (unpack an archive first)", root.string());
}

std::vector<layout::RawClass> list_classes(Layout layout, const layout::Request& request) {
  switch (layout) {
    case Layout::kTinyImageNet:
      return layout::list_tiny_imagenet(request);
    case Layout::kCub:
      return layout::list_cub(request);
    case Layout::kMiniImageNet:
      return layout::list_mini_imagenet(request);
    case Layout::kIlsvrc:
      return layout::list_ilsvrc(request);
    case Layout::kAuto:
    case Layout::kFolder:
      break;
  }
  return layout::list_folder(request);
}

/// The division the caller asked for, and what to call it in messages; no table when it is the layout's own.
struct AskedSplit {
  std::optional<SplitTable> table;
  std::string name;
};

AskedSplit asked_split(const ImageDatasetOptions& options, Layout layout, const fs::path& root) {
  if (options.split && !options.standard_split.empty())
    fail_usage("give either a split file or a standard split, not both");
  if (options.split) return {read_split(*options.split), options.split->string()};
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

/// "a, b, c, ..."
std::string first_of(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), names.size() > kShown ? ", ..." : "");
}

/// The classes of the split that are not there. A standard split is what others' figures are compared by: it has to be
/// whole.
std::vector<std::string> find_missing(const AskedSplit& asked, const std::vector<layout::RawClass>& classes,
                                      const ImageDatasetOptions& options, const fs::path& root) {
  if (!asked.table) return {};
  std::set<std::string> names;
  for (const auto& listed : classes) names.insert(listed.name);
  std::vector<std::string> missing;
  for (const auto& entry : *asked.table) {
    if (names.count(entry.first) == 0) missing.push_back(entry.first);
  }
  if (missing.empty()) return {};
  const std::string what = fmt::format("{} names {} of {} classes that are not in {}", asked.name, missing.size(),
                                       asked.table->size(), root.string());
  if (classes.empty() || options.strict || !options.standard_split.empty()) fail("{}: {}", what, first_of(missing));
  logger().warn("{}; they are left out: {}", what, first_of(missing));
  return missing;
}

/// Says which folders beside those of `classes` the split does not name. Where other layouts hold more classes than a
/// split has, that is meant so.
void warn_of_unnamed(const fs::path& root, const std::vector<layout::RawClass>& classes, const AskedSplit& asked) {
  if (!asked.table) return;
  std::set<fs::path> parents;
  for (const auto& listed : classes) parents.insert(listed.place.parent_path());
  std::vector<std::string> unnamed;
  for (const fs::path& parent : parents) {
    for (const fs::path& folder : layout::folders_in(parent)) {
      if (asked.table->count(folder.filename().string()) == 0) unnamed.push_back(folder.filename().string());
    }
  }
  if (unnamed.empty()) return;
  logger().warn("folders in {} that {} does not name are left out, {} of them: {}", root.string(), asked.name,
                unnamed.size(), first_of(unnamed));
}

/// Takes classes without images out: CUB's lists name all its classes even where only some of the images are there, and
/// a folder may be waiting for its images.
std::vector<std::string> drop_empty(std::vector<layout::RawClass>& classes, const ImageDatasetOptions& options,
                                    const fs::path& root) {
  std::vector<std::string> empty;
  for (const auto& listed : classes) {
    if (listed.items.empty()) empty.push_back(listed.name);
  }
  if (empty.empty()) return empty;
  if (empty.size() == classes.size()) {
    fail("{} has no class with images: there is no {} file in {}", root.string(), kImageKinds,
         classes.front().place.string());
  }
  if (options.strict) fail("{} of {} classes have no images: {}", empty.size(), classes.size(), first_of(empty));
  logger().warn("{} of {} classes have no images and are left out: {}", empty.size(), classes.size(), first_of(empty));
  classes.erase(std::remove_if(classes.begin(), classes.end(), [](const auto& listed) { return listed.items.empty(); }),
                classes.end());
  return empty;
}

Split split_of(const layout::RawClass& listed, const AskedSplit& asked, const ImageDatasetOptions& options,
               const fs::path& root) {
  if (asked.table) return asked.table->at(listed.name);
  if (listed.split) return *listed.split;
  if (options.without_split == WithoutSplit::kAllBase) return Split::kBase;
  fail(
      "nothing says which classes of {} are base, val and novel: give a split file (--split), put a {} there, or name "
      "a standard split (--standard-split)",
      root.string(), kSplitFile);
}

bool is_before(const ImageItem& a, const ImageItem& b) { return a.id < b.id; }

}  // namespace

Layout parse_layout(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [layout, name] : kLayoutNames) {
    if (name == text) return layout;
    names.emplace_back(name);
  }
  fail_usage("there is no layout '{}'; there are {}{}", text, fmt::join(names, ", "), did_you_mean(text, names));
}

std::string_view to_string(Layout layout) {
  for (const auto& [known, name] : kLayoutNames) {
    if (known == layout) return name;
  }
  return "unknown";
}

Layout detect_layout(const fs::path& root) {
  check_folder(root);
  if (!layout::cub_folder(root).empty()) return Layout::kCub;
  if (fs::exists(root / "wnids.txt") && fs::is_directory(root / "train")) return Layout::kTinyImageNet;
  if (fs::is_directory(root / "images") && fs::exists(root / "train.csv")) return Layout::kMiniImageNet;
  if (layout::has_disjoint_splits(root)) return Layout::kFolder;
  return layout::wnid_folder(root) == root / "train" ? Layout::kIlsvrc : Layout::kFolder;
}

ImageDataset list_images(const fs::path& root, const ImageDatasetOptions& options) {
  check_folder(root);
  const Layout layout = options.layout == Layout::kAuto ? detect_layout(root) : options.layout;
  const AskedSplit asked = asked_split(options, layout, root);
  auto classes = list_classes(layout, {root, asked.table ? &*asked.table : nullptr});
  ImageDataset dataset;
  dataset.empty_classes = find_missing(asked, classes, options, root);
  if (classes.empty()) fail("{} has no class with images", root.string());
  if (layout == Layout::kFolder) warn_of_unnamed(root, classes, asked);
  for (const auto& listed : classes) dataset.skipped.add(listed.skipped);
  if (layout == Layout::kFolder) dataset.skipped.add(layout::files_beside_classes(root, classes));
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
  return dataset;
}

}  // namespace protocom
