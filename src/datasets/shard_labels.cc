#include "datasets/shard_labels.h"

#include <algorithm>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/list_words.h"
#include "images/folder_walk.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Reads a label; nothing for a larger file, which is not a label.
std::string label_text(const fs::path& path) {
  constexpr uintmax_t kLargestLabel = uintmax_t{1} << 16;
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error || size > kLargestLabel ? std::string() : read_file(path);
}

/// Returns the class in a JSON object that has one.
std::string class_in_json(const fs::path& path) {
  const std::string text = label_text(path);
  if (text.empty()) return "";
  try {
    const nlohmann::json object = parse_json(text, path.string());
    const nlohmann::json* name = object.is_object() ? list_words::class_member(object) : nullptr;
    return name == nullptr ? "" : clean_name(list_words::text_of(*name));
  } catch (const Error&) {
    return "";  // other programs keep such files beside their images
  }
}

/// Returns the class in a file beside an image; empty: there is none.
std::string label_beside(fs::path image) {
  const std::string name = clean_name(trimmed(label_text(image.replace_extension(".cls"))));
  return name.empty() ? class_in_json(image.replace_extension(".json")) : name;
}

}  // namespace

std::vector<ListedImage> list_by_sidecars(const fs::path& folder) {
  WalkedFolder walked = walk_folder(folder, fs::directory_options::skip_permission_denied);
  std::sort(walked.images.begin(), walked.images.end());
  std::vector<ListedImage> list;
  if (walked.images.empty() || label_beside(walked.images.front()).empty()) return list;
  for (const fs::path& image : walked.images) {
    const std::string name = label_beside(image);
    if (!name.empty()) list.push_back({image.string(), name, image.string()});
  }
  logger().info("{}: the classes are those of the .cls or .json files beside the images", folder.string());
  if (list.size() < walked.images.size())
    logger().warn("{}: ignoring images without a label beside them: {} of {}", folder.string(),
                  walked.images.size() - list.size(), walked.images.size());
  return list;
}

}  // namespace protocom
