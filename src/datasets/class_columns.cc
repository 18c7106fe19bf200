#include "datasets/detail/class_columns.h"

#include <algorithm>
#include <map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/list_words.h"

namespace protocom::class_columns {
namespace {

/// Parses 0 or 1; nothing for another cell.
std::optional<bool> flag_in(std::string_view cell) {
  const auto number = number_from<double>(trimmed(cell));
  if (!number || (*number != 0 && *number != 1)) return std::nullopt;
  return *number == 1;
}

/// Returns the columns that are 1 in a row; nothing if a cell other than `image` is not a flag.
std::optional<std::vector<size_t>> set_columns(const CsvRow& row, size_t image) {
  std::vector<size_t> set;
  for (size_t c = 0; c < row.cells.size(); ++c) {
    if (c == image) continue;
    const std::optional<bool> flag = flag_in(row.cells[c]);
    if (!flag) return std::nullopt;
    if (*flag) set.push_back(c);
  }
  return set;
}

/// Throws Error for two columns of one name, which would be one class.
void check_names(const CsvTable& table, size_t image) {
  std::map<std::string, std::string> written;
  for (size_t c = 0; c < table.header.size(); ++c) {
    if (c == image) continue;
    const auto [first, is_new] = written.emplace(clean_name(table.header[c]), table.header[c]);
    if (!is_new)
      fail("{}:1: the columns '{}' and '{}' are the same class: rename one, or add them up", table.path.string(),
           excerpt(first->second), excerpt(table.header[c]));
  }
}

void report_others(const CsvTable& table, const std::vector<std::string>& several,
                   const std::vector<std::string>& none) {
  constexpr size_t kShown = 3;
  if (!several.empty())
    logger().warn("{}: ignoring images of several classes, {}: {}", table.path.string(), several.size(),
                  first_of(several, kShown));
  if (!none.empty())
    logger().warn("{}: ignoring images of no class, {}: {}", table.path.string(), none.size(), first_of(none, kShown));
}

}  // namespace

std::optional<std::vector<ListedImage>> list_of_columns(const CsvTable& table) {
  const std::optional<size_t> image = list_words::image_column(table.header);
  constexpr size_t kFewest = 3;
  if (!image || table.header.size() < kFewest) return std::nullopt;
  std::vector<ListedImage> list;
  std::vector<std::string> several, none;
  for (const CsvRow& row : table.rows) {
    const auto set = set_columns(row, *image);
    if (!set) return std::nullopt;
    const std::string name(trimmed(row.cells[*image]));
    if (set->size() == 1)
      list.push_back({name, clean_name(table.header[set->front()]), table.where(row)});
    else
      (set->empty() ? none : several).push_back(name);
  }
  if (list.empty()) return std::nullopt;
  check_names(table, *image);
  report_others(table, several, none);
  return list;
}

}  // namespace protocom::class_columns
