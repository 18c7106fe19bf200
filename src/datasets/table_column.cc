#include "datasets/table_column.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/text.h"
#include "datasets/detail/list_words.h"
#include "images/folder_walk.h"
#include "io/csv.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// A photo, and the number of characters of its path that a row ends with.
struct NamedPhoto {
  enum class Folder { kNone, kFound, kLost };  ///< whether the row names a folder, and whether the photo lies in it

  fs::path photo;
  size_t letters;
  Folder folder;
};

/// Finds photos by the ends of their paths: the rest in the table may be from another machine.
class PhotosByEnd {
 public:
  explicit PhotosByEnd(const std::vector<fs::path>& photos) {
    for (const fs::path& photo : photos) add_ends(photo.lexically_normal().generic_string(), photo, ends_);
  }

  /// Returns the photo with the longest matching end; nothing if several have it.
  [[nodiscard]] std::optional<NamedPhoto> find(std::string written) const {
    constexpr size_t kLongest = 4096;  // PATH_MAX
    if (written.size() > kLongest) return std::nullopt;
    std::replace(written.begin(), written.end(), '\\', '/');
    std::string end = fs::path(written).lexically_normal().generic_string();
    const bool has_folder = end.find('/') != std::string::npos;
    for (;;) {
      const auto found = ends_.find(end);
      if (found != ends_.end() && found->second.empty()) return std::nullopt;
      const size_t slash = end.find('/');
      const auto folder = !has_folder                  ? NamedPhoto::Folder::kNone
                          : slash != std::string::npos ? NamedPhoto::Folder::kFound
                                                       : NamedPhoto::Folder::kLost;
      if (found != ends_.end()) return NamedPhoto{found->second, end.size(), folder};
      if (slash == std::string::npos) return std::nullopt;
      end.erase(0, slash + 1);
    }
  }

 private:
  std::map<std::string, fs::path> ends_;  ///< empty: several photos
};

size_t image_column_of(const CsvTable& table) {
  const auto column = list_words::image_column(table.header);
  if (!column)
    fail("{}:1: no column of images (image, file_name, path, id); the columns are {}", table.path.string(),
         excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  return *column;
}

size_t class_column_of(const CsvTable& table) {
  const auto column = list_words::class_column(table.header);
  if (!column)
    fail("{}:1: no column of classes (class, label, species); the columns are {}", table.path.string(),
         excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  return *column;
}

/// Returns the only column with one of the names.
size_t column_among(const CsvTable& table, const std::vector<std::string>& names) {
  std::vector<size_t> found;
  for (size_t c = 0; c < table.header.size(); ++c) {
    const std::string word = list_words::plain_word(table.header[c]);
    if (std::find(names.begin(), names.end(), word) != names.end()) found.push_back(c);
  }
  if (found.size() != 1)
    fail("{}:1: expected one column {}, found {}; the columns are {}", table.path.string(), fmt::join(names, " or "),
         found.size(), excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  return found.front();
}

struct SaidOfPhoto {
  std::string text, where;
  size_t letters = 0;
};

/// Takes the cell of a row, unless another row matches the photo by a longer end of its path.
void take(const std::string& column, const fs::path& photo, SaidOfPhoto row, SaidOfPhoto& said) {
  if (row.letters < said.letters) return;
  if (row.letters == said.letters && row.text != said.text)
    fail("{}: the {} of {} is '{}' here and '{}' at {}: name it once", row.where, column, photo.string(),
         excerpt(row.text), excerpt(said.text), said.where);
  said = std::move(row);
}

}  // namespace

std::vector<std::string> cells_of_photos(const fs::path& path, const std::string& column,
                                         const std::vector<fs::path>& photos) {
  const CsvTable table = read_csv(path);
  const size_t asked = table.column(column), image = image_column_of(table);
  const PhotosByEnd ends(photos);
  std::vector<std::optional<NamedPhoto>> found;
  bool some_have_folders = false;
  for (const CsvRow& row : table.rows) {
    found.push_back(ends.find(std::string(trimmed(row.cells[image]))));
    some_have_folders |= found.back() && found.back()->folder == NamedPhoto::Folder::kFound;
  }
  std::map<fs::path, SaidOfPhoto> said;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const CsvRow& row = table.rows[i];
    const std::optional<NamedPhoto>& named = found[i];
    // Cameras reuse names: where folders agree, a photo of another folder does not match.
    if (!named || (some_have_folders && named->folder == NamedPhoto::Folder::kLost)) continue;
    take(column, named->photo, {std::string(trimmed(row.cells[asked])), table.where(row), named->letters},
         said[named->photo]);
  }
  std::vector<std::string> texts;
  texts.reserve(photos.size());
  for (const fs::path& photo : photos) texts.push_back(said[photo].text);
  return texts;
}

std::map<std::string, std::string> cells_of_classes(const fs::path& path, const std::vector<std::string>& columns) {
  const CsvTable table = read_csv(path);
  const size_t named = class_column_of(table), asked = column_among(table, columns);
  std::map<std::string, std::string> cells, said_at;
  for (const CsvRow& row : table.rows) {
    const std::string name = clean_name(row.cells[named]), text(trimmed(row.cells[asked]));
    if (name.empty() || text.empty()) continue;
    const auto [cell, is_new] = cells.emplace(name, text);
    if (is_new) said_at[name] = table.where(row);
    if (cell->second != text)
      fail("{}: the {} of '{}' is '{}' here and '{}' at {}: keep one", table.where(row), table.header[asked],
           excerpt(name), excerpt(text), excerpt(cell->second), said_at[name]);
  }
  return cells;
}

}  // namespace protocom
