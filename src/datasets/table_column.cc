#include "datasets/table_column.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "datasets/detail/list_words.h"
#include "images/folder_walk.h"
#include "io/csv.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// A photo, and how many letters of its path a row ends with.
struct NamedPhoto {
  fs::path photo;
  size_t letters;
};

/// The photos by every end of their paths: what stands before it in the table may be of another machine.
class PhotosByEnd {
 public:
  explicit PhotosByEnd(const std::vector<fs::path>& photos) {
    for (const fs::path& photo : photos) add_ends(photo.lexically_normal().generic_string(), photo, ends_);
  }

  /// The photo of the longest end; nothing if several have it.
  [[nodiscard]] std::optional<NamedPhoto> find(std::string written) const {
    constexpr size_t kLongest = 4096;  // PATH_MAX
    if (written.size() > kLongest) return std::nullopt;
    std::replace(written.begin(), written.end(), '\\', '/');
    for (std::string end = fs::path(written).lexically_normal().generic_string();;) {
      const auto found = ends_.find(end);
      if (found != ends_.end() && found->second.empty()) return std::nullopt;
      if (found != ends_.end()) return NamedPhoto{found->second, end.size()};
      const size_t slash = end.find('/');
      if (slash == std::string::npos) return std::nullopt;
      end.erase(0, slash + 1);
    }
  }

 private:
  std::map<std::string, fs::path> ends_;  ///< empty: of several photos
};

size_t image_column_of(const CsvTable& table) {
  const auto column = list_words::image_column(table.header);
  if (!column)
    fail("{}:1: no column of images (image, file_name, path, id); the columns are {}", table.path.string(),
         excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  return *column;
}

struct SaidOfPhoto {
  std::string text, where;
  size_t letters = 0;
};

/// Takes what a row says, unless another names the photo by a longer end of its path.
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
  std::map<fs::path, SaidOfPhoto> said;
  for (const CsvRow& row : table.rows) {
    const std::optional<NamedPhoto> named = ends.find(std::string(trimmed(row.cells[image])));
    if (!named) continue;
    take(column, named->photo, {std::string(trimmed(row.cells[asked])), table.where(row), named->letters},
         said[named->photo]);
  }
  std::vector<std::string> texts;
  texts.reserve(photos.size());
  for (const fs::path& photo : photos) texts.push_back(said[photo].text);
  return texts;
}

}  // namespace protocom
