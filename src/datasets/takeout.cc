#include "datasets/takeout.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/class_folders.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

bool has_json(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") return true;
  }
  return false;
}

/// Whether a folder is "Photos from 2024"; other languages have other words before the year.
bool is_year(const fs::path& folder) {
  constexpr size_t kDigits = 4;
  const std::string name = folder.filename().string();
  if (name.size() < kDigits + 2 || name[name.size() - kDigits - 1] != ' ') return false;
  const std::string year = name.substr(name.size() - kDigits);
  const bool digits = std::all_of(year.begin(), year.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::string word = lowercase(name);
  return digits && (word.rfind("photos ", 0) == 0 || word.rfind("fotos ", 0) == 0);
}

/// Whether a folder is Takeout/Google Photos, called Google Fotos in other languages.
bool is_package(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == "Takeout" || name.rfind("Google ", 0) == 0;
}

}  // namespace

std::vector<fs::path> takeout_albums(const fs::path& folder) {
  std::vector<fs::path> folders = folders_in(folder);
  if (folders.size() == 1 && is_package(folders.front())) return takeout_albums(folders.front());
  const auto first_year =
      std::stable_partition(folders.begin(), folders.end(), [](const fs::path& f) { return !is_year(f); });
  const bool packed = is_package(folder) && std::any_of(folders.begin(), first_year, has_json);
  if (!packed && std::none_of(first_year, folders.end(), has_json)) return {};
  const auto years = folders.end() - first_year;
  folders.erase(first_year, folders.end());
  if (folders.empty()) fail("{} has no album, only folders of years: make an album of each class", folder.string());
  logger().info("{}: the classes are the albums of Google Photos; ignoring folders of years: {}", folder.string(),
                years);
  return folders;
}

}  // namespace protocom
