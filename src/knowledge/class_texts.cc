#include "knowledge/class_texts.h"

#include <unordered_map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/files.h"
#include "knowledge/names.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDescription = "description";
constexpr std::string_view kPlace = "{}";

/// Returns the columns of descriptions.
std::vector<size_t> description_columns(const CsvTable& csv) {
  std::vector<size_t> columns = {csv.column(kDescription)};
  for (size_t i = 0; i < csv.header.size(); ++i) {
    const bool further = csv.header[i].compare(0, kDescription.size(), kDescription) == 0;
    if (further && i != columns.front()) columns.push_back(i);
  }
  return columns;
}

std::string filled_in(std::string_view pattern, const std::string& name) {
  std::string text;
  for (size_t at = 0; at < pattern.size();) {
    const size_t place = std::min(pattern.find(kPlace, at), pattern.size());
    text.append(pattern.substr(at, place - at));
    if (place < pattern.size()) text.append(name);
    at = place + kPlace.size();
  }
  return text;
}

}  // namespace

ClassTexts read_class_texts(const fs::path& path) {
  const CsvTable csv = read_csv(path);
  const size_t name_column = csv.column("class");
  const std::vector<size_t> columns = description_columns(csv);
  ClassTexts found;
  std::unordered_map<std::string, int64_t> place;
  for (const CsvRow& row : csv.rows) {
    const std::string name = clean_name(row.cells[name_column]);
    if (name.empty()) fail("{}: a description without a class", csv.where(row));
    const auto [own, is_new] = place.emplace(name, static_cast<int64_t>(found.classes.size()));
    if (is_new) found.classes.push_back(name);
    const size_t before = found.texts.size();
    for (const size_t column : columns) {
      const std::string_view text = trimmed(row.cells[column]);
      if (text.empty()) continue;
      found.texts.emplace_back(text);
      found.owner.push_back(own->second);
    }
    if (found.texts.size() == before) fail("{}: class '{}' has no description", csv.where(row), excerpt(name));
  }
  if (found.classes.empty()) fail("{} has no row: expected a class and its description in each", path.string());
  warn_of_same_but_capitals(found.classes, fmt::format("classes of {}", path.string()));
  return found;
}

std::vector<std::string> read_class_names(const fs::path& path) {
  std::vector<std::string> names;
  std::unordered_map<std::string, int64_t> lines;
  for_each_line(path, [&](int64_t number, std::string_view line) {
    if (number == 1 && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
    const std::string name = clean_name(line);
    if (name.empty()) return true;
    const auto [before, is_new] = lines.emplace(name, number);
    if (!is_new)
      fail("{}:{}: duplicate class '{}' (first in line {})", path.string(), number, excerpt(name), before->second);
    names.push_back(name);
    return true;
  });
  if (names.empty()) fail("{} has no name of a class: expected one in each line", path.string());
  return names;
}

ClassTexts texts_of_names(const std::vector<std::string>& names, const std::vector<std::string>& templates) {
  ClassTexts made;
  made.classes = names;
  for (const std::string& pattern : templates) {
    if (pattern.find(kPlace) == std::string::npos)
      fail_usage("the template '{}' is missing {{}} for the class's name: for instance '{}'", excerpt(pattern),
                 kTextTemplate);
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string title = title_of_name(names[i]);
      made.texts.push_back(filled_in(pattern, title.empty() ? names[i] : title));
      made.owner.push_back(static_cast<int64_t>(i));
    }
  }
  return made;
}

ClassTexts texts_of_class(const std::string& name, const std::vector<std::string>& texts) {
  ClassTexts made;
  made.classes = {clean_name(name)};
  for (const std::string& text : texts) {
    if (trimmed(text).empty()) fail_usage("class '{}': a description is empty", excerpt(name));
    made.texts.emplace_back(trimmed(text));
    made.owner.push_back(0);
  }
  return made;
}

Array class_directions(const ClassTexts& texts, const Array& vectors) {
  constexpr float kTiny = 1e-12F, kCancelled = 1e-6F;  // of float32
  Array directions = Array::zeros({static_cast<int64_t>(texts.classes.size()), vectors.size(1)});
  auto sums = mutable_matrix_of<float>(directions);
  const auto rows = matrix_of<float>(vectors);
  for (size_t i = 0; i < texts.owner.size(); ++i) {
    const auto row = rows.row(static_cast<int64_t>(i));
    sums.row(texts.owner[i]) += row / std::max(row.norm(), kTiny);
  }
  for (int64_t k = 0; k < sums.rows(); ++k) {
    const float length = sums.row(k).norm();
    if (length <= kCancelled)
      fail("the vectors of the texts of class '{}' cancel out: give other texts",
           excerpt(texts.classes[static_cast<size_t>(k)]));
    sums.row(k) /= length;
  }
  return directions;
}

}  // namespace protocom
