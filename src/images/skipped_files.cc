#include "images/skipped_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/text.h"
#include "images/codec.h"
#include "images/other_media.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

std::string small_suffix(const fs::path& path) { return lowercase(path.extension().string()); }

bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.empty() || name.front() == '.';
}

/// Whether a file is a thumbnail that a NAS puts beside photos.
bool is_thumbnail(const fs::path& path) {
  const std::string name = lowercase(path.filename().string());
  return name.rfind("synofile_thumb", 0) == 0 || name.rfind("synophoto_thumb", 0) == 0;
}

/// Whether a file is "IMG_1-edited.jpg" of Google Photos beside "IMG_1.jpg", which Google Takeout describes in a .json
/// beside it.
bool is_edited_copy(const fs::path& path) {
  constexpr std::string_view kEdited = "-edited";
  const std::string stem = path.stem().string();
  if (!ends_with(stem, kEdited)) return false;
  const std::string first = stem.substr(0, stem.size() - kEdited.size()) + path.extension().string();
  const fs::path beside = path.parent_path() / first;
  std::error_code ignored;
  return fs::exists(beside, ignored) && (fs::exists(beside.string() + ".json", ignored) ||
                                         fs::exists(beside.string() + ".supplemental-metadata.json", ignored));
}

/// Whether a file is "IMG_1.CR2" beside "IMG_1.JPG", as cameras write both of one shot.
bool is_raw_beside_photo(const fs::path& path) {
  if (!codec::is_raw_suffix(small_suffix(path))) return false;
  constexpr std::array<const char*, 10> kBeside = {".JPG",  ".jpg",  ".JPEG", ".jpeg", ".HEIC",
                                                   ".heic", ".HEIF", ".heif", ".HIF",  ".hif"};
  return std::any_of(kBeside.begin(), kBeside.end(), [&](const char* suffix) {
    std::error_code ignored;
    return fs::exists(fs::path(path).replace_extension(suffix), ignored);
  });
}

std::string why_skipped(const fs::path& file) {
  std::error_code ignored;
  if (is_edited_copy(file)) return "edited copy of Google Photos";
  if (is_hidden(file)) return "hidden";
  if (is_raw_beside_photo(file)) return "raw photo beside its JPEG or HEIC";
  if (is_thumbnail(file)) return "thumbnail of a storage box";
  if (!fs::exists(file, ignored)) return "broken link";
  const std::string suffix = small_suffix(file);
  return suffix.empty() ? "without a suffix" : suffix;
}

/// Whether a reason is a video's suffix: ".mp4", ".mp4 beside the class folders".
bool is_of_films(const std::string& reason) { return is_film("film" + reason.substr(0, reason.find(' '))); }

}  // namespace

bool is_image_name(const fs::path& path) {
  return !is_hidden(path) && !is_thumbnail(path) && codec::is_image_suffix(small_suffix(path)) &&
         !is_edited_copy(path) && !is_raw_beside_photo(path);
}

void SkippedFiles::add(const fs::path& file) { ++counts[why_skipped(file)]; }

void SkippedFiles::add_beside_classes(const fs::path& file) {
  constexpr const char* kBeside = "beside the class folders";
  if (is_hidden(file)) return;
  ++counts[is_image_name(file) ? kBeside : fmt::format("{} {}", why_skipped(file), kBeside)];
}

bool is_left_out_folder(const fs::path& folder) {
  static constexpr std::array<std::string_view, 12> kKept = {
      "@eadir",       "#recycle",           "#snapshot",
      "@recycle",     "@recently-snapshot", "@tmp",
      "$recycle.bin", "lost+found",         "system volume information",
      "__macosx",     "__pycache__",        "thumbs.db"};
  const std::string suffix = small_suffix(folder);
  return is_hidden(folder) || suffix == ".photoslibrary" || suffix == ".photolibrary" ||
         std::find(kKept.begin(), kKept.end(), lowercase(folder.filename().string())) != kKept.end();
}

void SkippedFiles::add_left_out_folder(const fs::path& folder) {
  const std::string reason =
      is_hidden(folder) ? "in a hidden folder" : fmt::format("in {}", folder.filename().string());
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto it = fs::recursive_directory_iterator(folder, options, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) ++counts[reason];
  }
}

void SkippedFiles::add(const SkippedFiles& others) {
  for (const auto& [reason, count] : others.counts) counts[reason] += count;
}

int64_t SkippedFiles::total() const {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0},
                         [](int64_t sum, const auto& item) { return sum + item.second; });
}

std::string SkippedFiles::describe() const {
  if (counts.empty()) return "";
  std::vector<std::pair<std::string, int64_t>> most(counts.begin(), counts.end());
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [reason, count] : most) parts.push_back(fmt::format("{} {}", count, reason));
  const bool films = std::any_of(counts.begin(), counts.end(), [](const auto& one) { return is_of_films(one.first); });
  return fmt::format("{} {}: {}{}", total(), total() == 1 ? "file is ignored" : "files are ignored",
                     fmt::join(parts, ", "), films ? "; " + photos_of_film("FILM") : "");
}

}  // namespace protocom
