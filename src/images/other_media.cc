#include "images/other_media.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/name_in_code.h"
#include "base/text.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

template <size_t N>
bool is_one_of(std::string_view suffix, const std::array<std::string_view, N>& known) {
  return std::find(known.begin(), known.end(), suffix) != known.end();
}

/// Returns "https:" for "https://host/a.jpg", whose slashes a path may have merged; empty: it is not a URL.
std::string url_scheme(const std::string& text) {
  const size_t colon = text.find(":/");
  constexpr std::array<std::string_view, 8> kKnown = {"http", "https", "s3", "gs", "ftp", "sftp", "hdfs", "azure"};
  return colon != std::string::npos && is_one_of(lowercase(text.substr(0, colon)), kKnown) ? text.substr(0, colon) : "";
}

}  // namespace

bool is_features_file(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kFeatures = {".npz", ".npy", ".parquet", ".safetensors"};
  return is_one_of(lowercase(path.extension().string()), kFeatures);
}

bool is_film(const fs::path& path) {
  constexpr std::array<std::string_view, 9> kFilms = {".mp4", ".mov", ".avi", ".mkv", ".m4v",
                                                      ".mpg", ".mts", ".wmv", ".webm"};
  return is_one_of(lowercase(path.extension().string()), kFilms);
}

std::string photos_of_film(const std::string& film) {
  return fmt::format(
      "make photos of the film and give these: mkdir frames; ffmpeg -i '{}' -vf fps=1 -q:v 2 frames/%06d.jpg", film);
}

std::string other_media(const fs::path& path) {
  constexpr std::array<std::string_view, 9> kArchives = {".zip", ".tar", ".tgz", ".gz", ".bz2",
                                                         ".xz",  ".zst", ".7z",  ".rar"};
  constexpr std::array<std::string_view, 2> kLibraries = {".photoslibrary", ".photolibrary"};
  const std::string text = path.string();
  if (!url_scheme(text).empty())
    return fmt::format("{}: web addresses are not supported: download the photos and give their folder", text);
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  const std::string suffix = lowercase(plain.extension().string());
  if (is_one_of(suffix, kArchives)) return fmt::format("{}: unpack it and give the folder", text);
  if (is_one_of(suffix, kLibraries))
    return fmt::format("{}: export the photos first (Apple Photos: File, Export) and give their folder", text);
  if (suffix == ".parquet")
    return fmt::format(
        "{}: Parquet is read in Python: protocom.Recognizer.create(\"mine.pcm\", images=\"{}\") makes a recognizer; "
        "its "
        "enrol_folder, classify and test take such a file, too",
        text, name_in_code(plain, "FILE.parquet"));
  if (is_features_file(plain))
    return fmt::format("{}: features, not photos: protocom enrol --features takes them", text);
  if (is_film(plain)) return fmt::format("{}: {}", text, photos_of_film(text));
  return "";
}

std::string other_media_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    files.push_back(it->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (std::string reason = other_media(file); !reason.empty()) return reason;
  }
  return "";
}

void refuse_other_media(const fs::path& path) {
  const std::string reason = other_media(path);
  if (!reason.empty()) fail("{}", reason);
}

}  // namespace protocom
