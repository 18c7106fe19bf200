#include "protocom/knowledge/tables.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <unordered_map>

#include "protocom/core/csv.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/text.h"
#include "protocom/knowledge/names.h"

namespace protocom {
namespace {

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A weight as people fill it in: 0.5, 0,5, x, yes, FALSE.
std::optional<double> read_weight(std::string_view text) {
  std::string word(trimmed(text));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* yes : {"x", "yes", "true"}) {
    if (word == yes) return 1;
  }
  for (const char* no : {"no", "false"}) {
    if (word == no) return 0;
  }
  if (word.find('.') == std::string::npos && std::count(word.begin(), word.end(), ',') == 1) word[word.find(',')] = '.';
  return parse_number(word);
}

/// `where` is a file and line.
float parse_weight(std::string_view text, const std::string& where, std::string_view what) {
  const auto value = read_weight(text);
  // The negation also refuses NaN.
  if (!value || !(*value >= 0 && *value <= 1))
    fail("{}: the weight of {} is '{}', expected a number from 0 to 1, x, yes or no", where, what, excerpt(text));
  return static_cast<float>(*value);
}

/// Names in the order of their first mention.
class Names {
 public:
  /// The index of `name`, which is added when it is new.
  int64_t add(const std::string& name) {
    const auto [found, added] = index_.emplace(name, static_cast<int64_t>(names_.size()));
    if (added) names_.push_back(name);
    return found->second;
  }
  /// Whether `name` was new.
  bool add_new(const std::string& name) {
    const int64_t before = size();
    return add(name) == before;
  }
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(names_.size()); }
  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t> index_;
};

void describe(ClassAttributes& table, const std::string& name, std::string_view words) {
  const std::string lemma = lemma_of_name(words);
  table.lemmas[name] = lemma.empty() ? std::vector<std::string>{} : std::vector<std::string>{lemma};
  if (const std::string title = title_of_name(words); !title.empty() && title != name) table.titles[name] = title;
}

/// The matrix of all pairs is held in memory, however few of them a long table names.
constexpr int64_t kMostPairs = int64_t{1} << 26;

ClassAttributes make_table(const Names& classes, const Names& attributes, const char* kind,
                           const std::filesystem::path& path) {
  if (classes.size() > kMostPairs / std::max<int64_t>(attributes.size(), 1)) {
    fail("{}: {} classes with {} attributes are more than {} million pairs: leave out what no class of the split needs",
         path.string(), classes.size(), attributes.size(), kMostPairs / 1'000'000);
  }
  ClassAttributes table;
  table.classes = classes.list();
  table.attributes = attributes.list();
  table.association = at::zeros({classes.size(), attributes.size()});
  table.source = {{"kind", kind}, {"file", path.string()}};
  for (const auto* names : {&table.classes, &table.attributes}) {
    for (const std::string& name : *names) describe(table, name, name);
  }
  return table;
}

/// Takes the columns at the end away that have neither a name nor a cell: spreadsheets leave such.
void drop_blank_columns(CsvTable& csv) {
  const auto is_blank = [](const std::vector<std::string>& cells) { return trimmed(cells.back()).empty(); };
  while (csv.header.size() > 1 && is_blank(csv.header) &&
         std::all_of(csv.rows.begin(), csv.rows.end(), [&](const CsvRow& row) { return is_blank(row.cells); })) {
    csv.header.pop_back();
    for (CsvRow& row : csv.rows) row.cells.pop_back();
  }
}

/// The names of a matrix's columns but the first, each once.
Names column_names(const CsvTable& csv) {
  const std::string where = csv.path.string() + ":1";
  if (csv.header.size() < 2)
    fail("{}: the only column is '{}', expected one for each attribute behind the classes, or class and attribute",
         where, excerpt(csv.header.front()));
  Names names;
  for (size_t i = 1; i < csv.header.size(); ++i) {
    const std::string name(trimmed(csv.header[i]));
    if (name.empty()) fail("{}: column {} has no name", where, i + 1);
    if (!names.add_new(name)) fail("{}: column '{}' is named twice", where, name);
  }
  return names;
}

ClassAttributes table_of(const CsvTable& csv) {
  const size_t class_column = csv.column("class");
  const size_t attribute_column = csv.column("attribute");
  const bool weighted = std::find(csv.header.begin(), csv.header.end(), "weight") != csv.header.end();
  Names classes;
  Names attributes;
  std::map<std::pair<int64_t, int64_t>, float> edges;
  for (const CsvRow& row : csv.rows) {
    const std::string name(trimmed(row.cells[class_column]));
    const std::string attribute(trimmed(row.cells[attribute_column]));
    if (name.empty()) fail("{}: the class has no name", csv.where(row));
    const int64_t r = classes.add(name);
    if (attribute.empty()) continue;
    const float weight = weighted ? parse_weight(row.cells[csv.column("weight")], csv.where(row), attribute) : 1.0F;
    if (!edges.emplace(std::pair(r, attributes.add(attribute)), weight).second) {
      fail("{}: '{}' and '{}' are paired twice", csv.where(row), name, attribute);
    }
  }
  if (classes.size() == 0) fail("{}: no rows below the header", csv.path.string());
  ClassAttributes table = make_table(classes, attributes, "table", csv.path);
  auto cells = table.association.accessor<float, 2>();
  for (const auto& [pair, weight] : edges) cells[pair.first][pair.second] = weight;
  return table;
}

ClassAttributes matrix_of(CsvTable csv) {
  drop_blank_columns(csv);
  const Names attributes = column_names(csv);
  Names classes;
  for (const CsvRow& row : csv.rows) {
    const std::string name(trimmed(row.cells[0]));
    if (name.empty()) fail("{}: the class has no name", csv.where(row));
    if (!classes.add_new(name)) fail("{}: class '{}' is named twice", csv.where(row), name);
  }
  if (classes.size() == 0) fail("{}: no rows below the header", csv.path.string());
  ClassAttributes table = make_table(classes, attributes, "matrix", csv.path);
  auto cells = table.association.accessor<float, 2>();
  for (size_t r = 0; r < csv.rows.size(); ++r) {
    const CsvRow& row = csv.rows[r];
    for (size_t c = 1; c < row.cells.size(); ++c) {
      if (trimmed(row.cells[c]).empty()) continue;
      cells[static_cast<int64_t>(r)][static_cast<int64_t>(c) - 1] =
          parse_weight(row.cells[c], csv.where(row), csv.header[c]);
    }
  }
  return table;
}

// ---- CUB-200-2011 ----

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

/// "12 name" lines, numbered from 1.
Names read_numbered_names(const std::filesystem::path& path) {
  Names names;
  for_each_line(path, [&](int64_t line, std::string_view text) {
    text = trimmed(text);
    if (text.empty()) return true;
    const size_t space = text.find(' ');
    const auto number = parse_number(text.substr(0, space));
    if (space == std::string_view::npos || !number || *number != static_cast<double>(names.size() + 1)) {
      fail("{}:{}: expected '{} name', found '{}'", path.string(), line, names.size() + 1, excerpt(text));
    }
    if (!names.add_new(std::string(text.substr(space + 1))))
      fail("{}:{}: '{}' is named twice", path.string(), line, text.substr(space + 1));
    return true;
  });
  if (names.size() == 0) fail("{}: no names in it", path.string());
  return names;
}

/// The percentages of one line into `row`.
void read_percentages(std::string_view text, const std::string& where, at::TensorAccessor<float, 1> row) {
  int64_t column = 0;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    if (text.empty()) break;
    const std::string_view cell = text.substr(0, text.find_first_of(" \t\r"));
    const auto value = parse_number(cell);
    if (!value || !(*value >= 0 && *value <= 100))
      fail("{}: '{}' is no percentage from 0 to 100", where, excerpt(cell));
    if (column == row.size(0))
      fail("{}: more than {} numbers, one for each line of attributes.txt", where, row.size(0));
    row[column++] = static_cast<float>(*value);
    text.remove_prefix(cell.size());
  }
  if (column != row.size(0))
    fail("{}: {} numbers, expected {}, one for each line of attributes.txt", where, column, row.size(0));
}

at::Tensor read_percentage_table(const std::filesystem::path& path, int64_t n_classes, int64_t n_attributes) {
  at::Tensor percentages = at::zeros({n_classes, n_attributes});
  auto rows = percentages.accessor<float, 2>();
  int64_t row = 0;
  for_each_line(path, [&](int64_t line, std::string_view text) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return true;
    const std::string where = fmt::format("{}:{}", path.string(), line);
    if (row == n_classes) fail("{}: more lines than the {} classes of classes.txt", where, n_classes);
    read_percentages(text, where, rows[row++]);
    return true;
  });
  if (row != n_classes)
    fail("{}: {} lines, expected {}, one for each line of classes.txt", path.string(), row, n_classes);
  return percentages;
}

std::string_view without_has(std::string_view name) { return name.substr(0, 4) == "has_" ? name.substr(4) : name; }

}  // namespace

ClassAttributes read_attribute_table(const std::filesystem::path& path) { return table_of(read_csv(path)); }

ClassAttributes read_attribute_matrix(const std::filesystem::path& path) { return matrix_of(read_csv(path)); }

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
      if (column >= 0) text += fmt::format("{:g}", known->association[row][column].item<float>());
    }
    text += "\n";
  }
  return text;
}

ClassAttributes read_attributes(const std::filesystem::path& path) {
  CsvTable csv = read_csv(path);
  const auto has = [&csv](std::string_view name) {
    return std::find(csv.header.begin(), csv.header.end(), name) != csv.header.end();
  };
  return has("class") && has("attribute") ? table_of(csv) : matrix_of(std::move(csv));
}

ClassAttributes read_cub_attributes(const std::filesystem::path& root, const CubAttributesOptions& options) {
  if (options.threshold && !(*options.threshold >= 0 && *options.threshold <= 100)) {
    fail_usage("a threshold of {} % was asked for, expected 0 to 100", *options.threshold);
  }
  const CubFiles files = find_cub_files(root);
  const Names classes = read_numbered_names(files.classes);
  const Names attributes = read_numbered_names(files.attributes);
  ClassAttributes table = make_table(classes, attributes, "cub", files.table);
  for (const std::string& attribute : table.attributes) describe(table, attribute, without_has(attribute));
  const at::Tensor percentages = read_percentage_table(files.table, classes.size(), attributes.size());
  if (options.threshold) {
    table.association = percentages.ge(*options.threshold).logical_and(percentages.gt(0)).to(at::kFloat);
    table.source["threshold_percent"] = *options.threshold;
  } else {
    table.association = percentages / 100;
  }
  return table;
}

}  // namespace protocom
