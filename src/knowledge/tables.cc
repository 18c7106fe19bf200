#include "knowledge/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"
#include "base/text.h"
#include "io/csv.h"
#include "knowledge/detail/table_names.h"
#include "knowledge/detail/weight_scale.h"

namespace protocom {
namespace {

/// The cells of a table that are weights: those of one column, or all but a matrix's first column.
struct WeightCells {
  const CsvTable* csv = nullptr;
  std::vector<size_t> columns;
  WeightScale scale;
};

/// Returns the attribute of a cell, named by its row or its column.
using WeightOwner = std::function<std::string(const CsvRow& row, size_t column)>;

[[noreturn]] void refuse_weight(const CsvTable& csv, const CsvRow& row, size_t column, const WeightOwner& owner,
                                const std::string& why) {
  fail("{}: the weight of {} is '{}', expected a number from 0 to 1, x, yes or no{}", csv.where(row),
       excerpt(owner(row, column)), excerpt(row.cells[column]), why);
}

/// Throws Error for an ambiguous scale, at the first cell that is not a weight as it stands.
void check_scale(const WeightCells& cells, const WeightOwner& owner) {
  const std::string ambiguity = cells.scale.ambiguity();
  if (ambiguity.empty()) return;
  const WeightScale as_it_is;
  const std::string why = fmt::format(": the table holds {}", ambiguity);
  for (const CsvRow& row : cells.csv->rows) {
    for (const size_t column : cells.columns) {
      if (!trimmed(row.cells[column]).empty() && !as_it_is.read(row.cells[column]))
        refuse_weight(*cells.csv, row, column, owner, why);
    }
  }
  fail("{}: the weights hold {}; write numbers from 0 to 1, x, yes or no", cells.csv->path.string(), ambiguity);
}

float weight_in(const WeightCells& cells, const CsvRow& row, size_t column, const WeightOwner& owner) {
  const auto value = cells.scale.read(row.cells[column]);
  if (!value) refuse_weight(*cells.csv, row, column, owner, "");
  return *value;
}

/// Drops trailing columns that have neither a name nor a cell, which spreadsheets leave.
void drop_blank_columns(CsvTable& csv) {
  const auto is_blank = [](const std::vector<std::string>& cells) { return trimmed(cells.back()).empty(); };
  while (csv.header.size() > 1 && is_blank(csv.header) &&
         std::all_of(csv.rows.begin(), csv.rows.end(), [&](const CsvRow& row) { return is_blank(row.cells); })) {
    csv.header.pop_back();
    for (CsvRow& row : csv.rows) row.cells.pop_back();
  }
}

/// The attributes of a matrix, and the attribute of each column but the first.
struct MatrixColumns {
  AttributeNames attributes;
  std::vector<int64_t> attribute_of;
};

MatrixColumns matrix_columns(const CsvTable& csv) {
  const std::string where = csv.path.string() + ":1";
  if (csv.header.size() < 2)
    fail("{}: the only column is '{}', expected one per attribute after the classes, or class and attribute", where,
         excerpt(csv.header.front()));
  TableNames spellings;
  MatrixColumns columns;
  for (size_t i = 1; i < csv.header.size(); ++i) {
    const std::string name = clean_name(csv.header[i]);
    if (name.empty()) fail("{}: column {} has no name", where, i + 1);
    if (!spellings.add_new(name)) fail("{}: duplicate column '{}'", where, name);
    columns.attribute_of.push_back(columns.attributes.add(name));
  }
  columns.attributes.log_merged(csv.path);
  return columns;
}

std::string lower(std::string_view text) { return lowercase(trimmed(text)); }

WeightCells weights_of(const CsvTable& csv, size_t column) {
  const std::string name = lower(csv.header[column]);
  const bool percent = name.find("percent") != std::string::npos || name.find('%') != std::string::npos;
  WeightCells cells{&csv, {column}, WeightScale(percent ? WeightScale::Said::kPercent : WeightScale::Said::kNothing)};
  for (const CsvRow& row : csv.rows) {
    if (!trimmed(row.cells[column]).empty()) cells.scale.look(row.cells[column]);
  }
  return cells;
}

WeightCells weights_of_matrix(const CsvTable& csv) {
  WeightCells cells{&csv, {}, WeightScale()};
  for (size_t column = 1; column < csv.header.size(); ++column) cells.columns.push_back(column);
  for (const CsvRow& row : csv.rows) {
    for (const size_t column : cells.columns) {
      if (!trimmed(row.cells[column]).empty()) cells.scale.look(row.cells[column]);
    }
  }
  return cells;
}

/// Whether a column's name means a weight.
bool is_weight_name(std::string_view header) {
  const std::string name = lower(header);
  if (name.find("percent") != std::string::npos || name.find('%') != std::string::npos) return true;
  for (const char* known : {"weight", "value", "present", "presence", "is_present", "has", "score", "strength",
                            "probability", "share", "association"}) {
    if (name == known) return true;
  }
  return false;
}

/// Whether a column's name means a row number: pandas writes its index in a column without a name.
bool is_index_name(std::string_view header) {
  const std::string name = lower(header);
  return name.empty() || name.rfind("unnamed:", 0) == 0 || name == "index" || name == "row" || name == "id" ||
         ends_with(name, "_id") || ends_with(name, " id");
}

/// Returns the only candidate for the weight column; throws Error for several.
std::optional<size_t> only_one(const CsvTable& csv, const std::vector<size_t>& columns) {
  for (const size_t column : columns) {
    if (lower(csv.header[column]) == "weight") return column;
  }
  if (columns.size() > 1)
    fail("{}:1: both '{}' and '{}' may be the weights: rename one to 'weight', or leave one out", csv.path.string(),
         excerpt(csv.header[columns[0]]), excerpt(csv.header[columns[1]]));
  return columns.empty() ? std::nullopt : std::optional(columns.front());
}

/// Returns the column of weights in a table of pairs: the one with such a name, else the one that has only weights.
/// Others (notes, row numbers) are ignored. Throws Error if the choice is ambiguous.
std::optional<size_t> choose_weight_column(const CsvTable& csv, size_t class_column, size_t attribute_column) {
  std::vector<size_t> named, alike;
  for (size_t column = 0; column < csv.header.size(); ++column) {
    if (column == class_column || column == attribute_column || is_index_name(csv.header[column])) continue;
    if (is_weight_name(csv.header[column])) named.push_back(column);
    const WeightScale scale = weights_of(csv, column).scale;
    if (scale.any() && scale.all_read()) alike.push_back(column);
  }
  if (!named.empty()) return only_one(csv, named);
  const std::optional<size_t> found = only_one(csv, alike);
  if (found && !weights_of(csv, *found).scale.within_one())
    fail(
        "{}:1: column '{}' has numbers: rename it to 'weight' if they are weights of the attributes, otherwise leave "
        "it out",
        csv.path.string(), excerpt(csv.header[*found]));
  return found;
}

/// Logs how the table is interpreted if it does not state it.
void say_how(const CsvTable& csv, size_t column, const WeightScale& scale) {
  if (lower(csv.header[column]) == "weight" && !scale.converts()) return;
  logger().info("{}: column '{}' is read as {}", csv.path.string(), excerpt(csv.header[column]), scale.reading());
}

struct PairColumns {
  size_t name, attribute;
};

template <size_t N>
std::optional<size_t> column_called(const CsvTable& csv, const char* const (&words)[N]) {
  for (const char* word : words) {
    for (size_t column = 0; column < csv.header.size(); ++column) {
      if (lower(csv.header[column]) == word) return column;
    }
  }
  return std::nullopt;
}

/// Returns the columns of a table of pairs, by their usual names. Other words than class and attribute count only if
/// the cells are names: a matrix may have an attribute "feature".
std::optional<PairColumns> pair_columns(const CsvTable& csv) {
  constexpr const char* kClasses[] = {"class",   "classes", "class name", "class_name",
                                      "species", "label",   "category",   "name"};
  constexpr const char* kAttributes[] = {"attribute", "attributes", "attribute name", "attribute_name", "trait",
                                         "traits",    "feature",    "property",       "characteristic"};
  const auto name = column_called(csv, kClasses);
  const auto attribute = column_called(csv, kAttributes);
  if (!name || !attribute) return std::nullopt;
  const PairColumns columns{*name, *attribute};
  if (lower(csv.header[*name]) == "class" && lower(csv.header[*attribute]) == "attribute") return columns;
  const WeightScale scale = weights_of(csv, *attribute).scale;
  return scale.any() && scale.all_read() ? std::nullopt : std::optional(columns);
}

/// Refuses a table of pairs whose header is missing or unknown: it would be read as a matrix whose cells are not
/// weights.
void refuse_pairs_without_header(const CsvTable& csv) {
  if (csv.rows.empty()) return;
  for (const CsvRow& row : csv.rows) {
    for (size_t column = 1; column < row.cells.size(); ++column) {
      const std::string_view cell = trimmed(row.cells[column]);
      WeightScale scale;
      scale.look(cell);
      const bool is_meant_as_number = !cell.empty() && std::string_view("0123456789.,+-").find(cell[0]) != cell.npos;
      if (cell.empty() || is_meant_as_number || scale.all_read()) return;
    }
  }
  fail(
      "{}:1: the header is '{}', and no cell below it is a weight: expected the header class,attribute above one pair "
      "per line, or one column per attribute after the classes",
      csv.path.string(), excerpt(fmt::format("{}", fmt::join(csv.header, ","))));
}

AttributeTable table_of(const CsvTable& csv, const PairColumns& pairs) {
  const size_t class_column = pairs.name, attribute_column = pairs.attribute;
  const std::optional<size_t> weight_column = choose_weight_column(csv, class_column, attribute_column);
  const WeightOwner owner = [&](const CsvRow& row, size_t) { return row.cells[attribute_column]; };
  WeightCells cells{&csv, {}, WeightScale()};
  if (weight_column) {
    cells = weights_of(csv, *weight_column);
    check_scale(cells, owner);
    say_how(csv, *weight_column, cells.scale);
  }
  TableNames classes;
  TableNames spellings;
  AttributeNames attributes;
  std::set<std::pair<int64_t, int64_t>> pairs_of_spellings;
  std::map<std::pair<int64_t, int64_t>, float> edges;
  for (const CsvRow& row : csv.rows) {
    const std::string name = clean_name(row.cells[class_column]);
    const std::string attribute = clean_name(row.cells[attribute_column]);
    if (name.empty()) fail("{}: the class has no name", csv.where(row));
    const int64_t r = classes.add(name);
    if (attribute.empty()) continue;
    const float weight = weight_column ? weight_in(cells, row, *weight_column, owner) : 1.0F;
    if (!pairs_of_spellings.emplace(r, spellings.add(attribute)).second)
      fail("{}: duplicate pair '{}' and '{}'", csv.where(row), name, attribute);
    float& edge = edges[{r, attributes.add(attribute)}];
    edge = std::max(edge, weight);
  }
  attributes.log_merged(csv.path);
  if (classes.size() == 0) fail("{}: no rows below the header", csv.path.string());
  AttributeTable table = empty_table(classes, attributes.names(), "table", csv.path);
  auto values = mutable_matrix_of<float>(table.association);
  for (const auto& [pair, weight] : edges) values(pair.first, pair.second) = weight;
  return table;
}

AttributeTable matrix_of(CsvTable csv) {
  drop_blank_columns(csv);
  if (csv.header.size() > 1) refuse_pairs_without_header(csv);
  const MatrixColumns columns = matrix_columns(csv);
  TableNames classes;
  for (const CsvRow& row : csv.rows) {
    const std::string name = clean_name(row.cells[0]);
    if (name.empty()) fail("{}: the class has no name", csv.where(row));
    if (!classes.add_new(name)) fail("{}: duplicate class '{}'", csv.where(row), name);
  }
  if (classes.size() == 0) fail("{}: no rows below the header", csv.path.string());
  AttributeTable table = empty_table(classes, columns.attributes.names(), "matrix", csv.path);
  const WeightOwner owner = [&csv](const CsvRow&, size_t column) { return csv.header[column]; };
  const WeightCells cells = weights_of_matrix(csv);
  check_scale(cells, owner);
  if (cells.scale.converts()) logger().info("{}: its weights are read as {}", csv.path.string(), cells.scale.reading());
  auto values = mutable_matrix_of<float>(table.association);
  for (size_t r = 0; r < csv.rows.size(); ++r) {
    const CsvRow& row = csv.rows[r];
    for (size_t c = 1; c < row.cells.size(); ++c) {
      if (trimmed(row.cells[c]).empty()) continue;
      float& value = values(static_cast<int64_t>(r), columns.attribute_of[c - 1]);
      value = std::max(value, weight_in(cells, row, c, owner));
    }
  }
  return table;
}

}  // namespace

AttributeTable read_attribute_matrix(const std::filesystem::path& path) { return matrix_of(read_csv(path)); }

std::string matrix_csv(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
                       const KnowledgeTable* known) {
  std::string text = "class";
  for (const std::string& attribute : attributes) text += "," + csv_cell(attribute);
  text += "\n";
  for (const std::string& name : classes) {
    text += csv_cell(name);
    const int64_t row = known == nullptr ? -1 : known->class_index(name);
    for (const std::string& attribute : attributes) {
      text += ",";
      const int64_t column = row < 0 ? -1 : known->attribute_index(attribute);
      if (column >= 0) text += fmt::format("{:g}", matrix_of<float>(known->association)(row, column));
    }
    text += "\n";
  }
  return text;
}

AttributeTable read_attributes(const std::filesystem::path& path) {
  if (path.extension() == ".mat")
    fail(
        "{}: benchmarks' att_splits.mat do not name their attributes: use the data set's own text files (protocom "
        "knowledge awa2, knowledge cub)",
        path.string());
  CsvTable csv = read_csv(path);
  const std::optional<PairColumns> pairs = pair_columns(csv);
  return pairs ? table_of(csv, *pairs) : matrix_of(std::move(csv));
}

}  // namespace protocom
