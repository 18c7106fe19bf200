#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"
#include "base/text.h"
#include "io/files.h"
#include "knowledge/detail/table_names.h"
#include "knowledge/tables.h"

namespace protocom {
namespace {

std::filesystem::path first_that_exists(const std::vector<std::filesystem::path>& candidates, const char* what) {
  for (const auto& path : candidates) {
    if (std::filesystem::exists(path)) return path;
  }
  fail("{}: not found; expected {}", candidates.front().string(), what);
}

struct CubFiles {
  std::filesystem::path classes, attributes, table;
};

CubFiles find_cub_files(const std::filesystem::path& root) {
  CubFiles files;
  files.classes = first_that_exists({root / "classes.txt", root / "CUB_200_2011" / "classes.txt"},
                                    "the folder CUB_200_2011 of the dataset's archive");
  const std::filesystem::path base = files.classes.parent_path();
  files.attributes = first_that_exists(
      {base / "attributes" / "attributes.txt", base / "attributes.txt", base / ".." / "attributes.txt"},
      "the attributes' names there, in CUB_200_2011 or beside it");
  files.table = base / "attributes" / "class_attribute_labels_continuous.txt";
  return files;
}

/// Reads lines "12 name", numbered from 1, with a space or a tab.
TableNames read_numbered_names(const std::filesystem::path& path) {
  TableNames names;
  for_each_line(path, [&](int64_t line, std::string_view text) {
    text = trimmed(text);
    if (text.empty()) return true;
    const size_t space = text.find_first_of(" \t");
    const auto number = number_from<double>(trimmed(text.substr(0, space)));
    if (space == std::string_view::npos || !number || *number != static_cast<double>(names.size() + 1)) {
      fail("{}:{}: expected '{} name', found '{}'", path.string(), line, names.size() + 1, excerpt(text));
    }
    if (!names.add_new(std::string(text.substr(space + 1))))
      fail("{}:{}: duplicate '{}'", path.string(), line, text.substr(space + 1));
    return true;
  });
  if (names.size() == 0) fail("{}: expected at least one name, found none", path.string());
  return names;
}

/// Whether -1 means an unknown percentage.
enum class Unknown { kRefused, kMinusOne };

/// Parses the percentages of one line into `row`.
void read_percentages(std::string_view text, const std::string& where, Unknown unknown, FloatMatrix::RowXpr row) {
  int64_t column = 0;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    if (text.empty()) break;
    const std::string_view cell = text.substr(0, text.find_first_of(" \t\r"));
    const auto value = number_from<double>(cell);
    const bool known = value && *value >= 0 && *value <= 100;
    if (!known && !(value && *value == -1 && unknown == Unknown::kMinusOne))
      fail("{}: '{}' is not a percentage from 0 to 100", where, excerpt(cell));
    if (column == row.size()) fail("{}: more than {} numbers, one for each line of attributes.txt", where, row.size());
    row[column++] = static_cast<float>(*value);
    text.remove_prefix(cell.size());
  }
  if (column != row.size())
    fail("{}: {} numbers, expected {}, one for each line of attributes.txt", where, column, row.size());
}

FloatMatrix read_percentage_table(const std::filesystem::path& path, const TableNames& classes,
                                  const TableNames& attributes, Unknown unknown) {
  const int64_t n_classes = classes.size();
  FloatMatrix percentages = FloatMatrix::Zero(n_classes, attributes.size());
  int64_t row = 0;
  for_each_line(path, [&](int64_t line, std::string_view text) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return true;
    const std::string where = fmt::format("{}:{}", path.string(), line);
    if (row == n_classes) fail("{}: more lines than the {} classes of classes.txt", where, n_classes);
    read_percentages(text, where, unknown, percentages.row(row++));
    return true;
  });
  if (row != n_classes)
    fail("{}: {} lines, expected {}, one for each line of classes.txt", path.string(), row, n_classes);
  return percentages;
}

/// Replaces '+', by which Animals with Attributes writes blanks.
std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '+', ' ');
  return name;
}

/// Checks a matrix of 0 and 1, one line per class.
void check_binary(const FloatMatrix& table, const std::filesystem::path& path) {
  if (!(table.array() == 0 || table.array() == 1).all()) fail("{}: expected only 0 and 1", path.string());
}

std::string_view without_has(std::string_view name) { return name.substr(0, 4) == "has_" ? name.substr(4) : name; }

}  // namespace

AttributeTable read_cub_attributes(const std::filesystem::path& root, const CubAttributesOptions& options) {
  if (options.threshold && !(*options.threshold >= 0 && *options.threshold <= 100)) {
    fail_usage("threshold: expected 0 to 100 %, found {} %", *options.threshold);
  }
  const CubFiles files = find_cub_files(root);
  const TableNames classes = read_numbered_names(files.classes);
  const TableNames attributes = read_numbered_names(files.attributes);
  AttributeTable table = empty_table(classes, attributes, "cub", files.table);
  for (const std::string& attribute : table.attributes) describe_name(table, attribute, without_has(attribute));
  const FloatMatrix percentages = read_percentage_table(files.table, classes, attributes, Unknown::kRefused);
  if (options.threshold) {
    const auto least = static_cast<float>(*options.threshold);
    const auto shown = percentages.array() >= least && percentages.array() > 0;
    table.association = array_of_matrix(shown.cast<float>().matrix());
    table.source["threshold_percent"] = *options.threshold;
  } else {
    table.association = array_of_matrix(percentages / 100);
  }
  return table;
}

AttributeTable read_awa2_attributes(const std::filesystem::path& root, Awa2Weights weights) {
  const TableNames classes = read_numbered_names(first_that_exists({root / "classes.txt"}, "the classes' names there"));
  const TableNames attributes =
      read_numbered_names(first_that_exists({root / "predicates.txt"}, "the attributes' names there"));
  const bool binary = weights == Awa2Weights::kBinary;
  const std::filesystem::path file =
      root / (binary ? "predicate-matrix-binary.txt" : "predicate-matrix-continuous.txt");
  first_that_exists({file}, "the classes' attributes there");
  AttributeTable table = empty_table(classes, attributes, "awa2", file);
  for (const auto* names : {&table.classes, &table.attributes}) {
    for (const std::string& name : *names) describe_name(table, name, with_blanks(name));
  }
  const FloatMatrix read =
      read_percentage_table(file, classes, attributes, binary ? Unknown::kRefused : Unknown::kMinusOne);
  if (binary) check_binary(read, file);
  const auto unknown = (read.array() < 0).count();
  if (unknown > 0) logger().info("{}: {} weights are not known (-1) and are read as 0", file.string(), unknown);
  table.association = binary ? array_of_matrix(read) : array_of_matrix(read.cwiseMax(0) / 100);
  return table;
}

}  // namespace protocom
