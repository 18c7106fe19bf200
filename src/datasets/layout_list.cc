#include <map>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/layout.h"
#include "datasets/image_list.h"
#include "datasets/photo_keywords.h"

namespace protocom::layout {
namespace fs = std::filesystem;

namespace {

/// Returns the path below the root; a list may also name files elsewhere.
std::string id_below(const fs::path& root, const fs::path& path) {
  const std::string prefix = (root / "").generic_string();
  const std::string whole = path.generic_string();
  return whole.rfind(prefix, 0) == 0 ? whole.substr(prefix.size()) : whole;
}

}  // namespace

std::vector<RawClass> classes_of_list(const fs::path& list, const Request& request) {
  const std::vector<ListedImage> images = read_image_list(list, request.lists);
  const std::vector<std::optional<fs::path>> found = ListedFiles(list.parent_path()).find_listed(images);
  std::map<std::string, RawClass> classes;
  std::vector<std::string> missing;
  size_t named = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    const ListedImage& image = images[i];
    if (!request.includes(image.class_name)) continue;
    RawClass& owner =
        classes.try_emplace(image.class_name, RawClass{image.class_name, "", std::nullopt, list, {}}).first->second;
    if (image.image.empty()) continue;
    ++named;
    if (found[i])
      owner.items.push_back({id_below(request.root, *found[i]), *found[i], 0});
    else
      missing.push_back(image.image);
  }
  constexpr size_t kShown = 5;
  if (named > 0 && missing.size() == named)
    fail("{}: {} rows, 0 files found, such as {}", list.string(), named, missing.front());
  if (!missing.empty())
    logger().warn("{}: ignoring {} of {} images, which are missing or ambiguous: {}", list.string(), missing.size(),
                  named, first_of(missing, kShown));
  logger().info("{}: using the classes of {}", list.parent_path().string(), list.filename().string());
  std::vector<RawClass> all;
  for (auto& entry : classes) all.push_back(std::move(entry.second));
  return all;
}

std::vector<RawClass> list_of_list(const Request& request) {
  const std::optional<fs::path> list = image_list_in(request.root, request.lists);
  if (!list)
    fail(
        "{} has no list of its images: expected a CSV with a column of images (image, file_name, id) and one of "
        "classes (class, label)",
        request.root.string());
  return classes_of_list(*list, request);
}

std::vector<RawClass> classes_of_keywords(const Request& request) {
  std::map<std::string, RawClass> classes;
  for (const ListedImage& image : list_by_keywords(request.root, parse_keyword_choice(request.lists.classes_from))) {
    if (!request.includes(image.class_name)) continue;
    RawClass& owner =
        classes.try_emplace(image.class_name, RawClass{image.class_name, "", std::nullopt, image.image, {}})
            .first->second;
    owner.items.push_back({id_below(request.root, image.image), image.image, 0});
  }
  std::vector<RawClass> all;
  for (auto& entry : classes) all.push_back(std::move(entry.second));
  return all;
}

}  // namespace protocom::layout
