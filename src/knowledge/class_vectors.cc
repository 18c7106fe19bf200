#include "knowledge/class_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/matrix.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/npz.h"
#include "knowledge/detail/vector_number.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

/// Rows as in a file.
struct NamedRows {
  std::vector<std::string> names;  // [n]
  Array rows;                      // float32 [n, e]
};

/// Returns the first of the names that the file has.
std::optional<std::string> member_of(const NpzReader& reader, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (reader.has(name)) return name;
  }
  return std::nullopt;
}

NamedRows read_rows_of_npz(const fs::path& path) {
  const NpzReader reader(path);
  const auto rows = member_of(reader, {"vectors", "embeddings", "text", "features", "class_embedding"});
  const auto names = member_of(reader, {"names", "classes"});
  if (reader.has("embedding_sources"))
    fail("{} has vectors of several sources: give the files that it was made from", path.string());
  if (!rows || !names)
    fail("{}: expected 'vectors' [classes, numbers] and 'names' (the classes' names), found {}", path.string(),
         fmt::join(reader.names(), ", "));
  return {reader.strings(*names), reader.array(*rows)};
}

NamedRows read_rows_of_npy(const fs::path& path, const fs::path& names) {
  if (names.empty())
    fail_usage("{} has no names of classes: give --names, a text file with one name per line in the order of the rows",
               path.string());
  NamedRows found{{}, read_npy(path)};
  for_each_line(names, [&](int64_t number, std::string_view line) {
    if (number == 1 && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
    if (!trimmed(line).empty()) found.names.emplace_back(trimmed(line));
    return true;
  });
  return found;
}

float number_in(const CsvTable& csv, const CsvRow& row, size_t column) {
  const std::string_view text = trimmed(row.cells[column]);
  const auto value = vector_number(text);
  if (!value)
    fail("{}: '{}' in the column '{}' is not a number", csv.where(row), excerpt(text), excerpt(csv.header[column]));
  return *value;
}

NamedRows read_rows_of_csv(const fs::path& path) {
  const CsvTable csv = read_csv(path);
  const auto e = static_cast<int64_t>(csv.header.size()) - 1;
  if (e < 1) fail("{}:1: expected a column of class names and one for each number of the vectors", path.string());
  NamedRows found{{}, Array::uninitialised({static_cast<int64_t>(csv.rows.size()), e})};
  float* value = found.rows.mutable_data<float>();
  for (const CsvRow& row : csv.rows) {
    found.names.push_back(row.cells.front());
    for (size_t i = 1; i < row.cells.size(); ++i) *value++ = number_in(csv, row, i);
  }
  return found;
}

NamedRows read_rows(const fs::path& path, const fs::path& names) {
  const std::string kind = path.extension().string();
  if (kind == ".npz") return read_rows_of_npz(path);
  if (kind == ".npy") return read_rows_of_npy(path, names);
  if (kind == ".csv" || kind == ".tsv" || kind == ".gz") return read_rows_of_csv(path);
  fail("{}: unsupported file of class vectors, expected .npz, .npy (with --names) or .csv", path.string());
}

void check_rows(const NamedRows& found, const fs::path& path) {
  const Array& rows = found.rows;
  if (rows.dim() != 2 || !is_real(rows.type()) || rows.size(1) == 0)
    fail("{}: the vectors are {} [{}], expected real numbers [classes, numbers]", path.string(), to_string(rows.type()),
         fmt::join(rows.shape(), ", "));
  if (rows.size(0) != static_cast<int64_t>(found.names.size()))
    fail("{}: {} vectors with {} names of classes", path.string(), rows.size(0), found.names.size());
  if (rows.size(0) == 0) fail("{} has no vector", path.string());
  check_features(rows, path.string());
  const Array plain = rows.to(NumberType::kFloat64);
  for (int64_t i = 0; i < rows.size(0); ++i) {
    if ((matrix_of<double>(plain).row(i).array() == 0).all())
      fail("{}: the vector of class '{}' is all zeros", path.string(), excerpt(found.names[static_cast<size_t>(i)]));
  }
}

/// Returns the mean of the directions of each class's rows, [classes, e].
Array mean_directions(const Array& all, const std::vector<int64_t>& owner, int64_t classes) {
  const auto rows = matrix_of<float>(all);
  Array means = Array::zeros({classes, rows.cols()});
  auto mean = mutable_matrix_of<float>(means);
  std::vector<float> count(static_cast<size_t>(classes), 0);
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const int64_t own = owner[static_cast<size_t>(i)];
    mean.row(own) += rows.row(i) / rows.row(i).norm();
    ++count[static_cast<size_t>(own)];
  }
  for (int64_t k = 0; k < classes; ++k) mean.row(k) /= count[static_cast<size_t>(k)];
  return means;
}

/// Returns the median length; for an even number of vectors the lower middle one.
float median_length(const Array& vectors) {
  const auto rows = matrix_of<float>(vectors);
  std::vector<float> lengths;
  for (int64_t i = 0; i < rows.rows(); ++i) lengths.push_back(rows.row(i).norm());
  const auto middle = lengths.begin() + (rows.rows() - 1) / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

}  // namespace

ClassVectors read_class_vectors(const fs::path& path, const fs::path& names) {
  NamedRows found = read_rows(path, names);
  check_rows(found, path);
  ClassVectors result;
  std::unordered_map<std::string, int64_t> place;
  std::vector<int64_t> owner;
  for (const std::string& written : found.names) {
    const std::string name = clean_name(written);
    if (name.empty()) fail("{}: vector {} has no name", path.string(), owner.size() + 1);
    const auto [own, is_new] = place.emplace(name, static_cast<int64_t>(result.classes.size()));
    if (is_new) result.classes.push_back(name);
    owner.push_back(own->second);
  }
  const auto classes = static_cast<int64_t>(result.classes.size());
  const Array rows = found.rows.to(NumberType::kFloat32);
  warn_of_same_but_capitals(result.classes, fmt::format("classes of {}", path.string()));
  result.vectors = classes < rows.size(0) ? mean_directions(rows, owner, classes) : rows;
  return result;
}

ClassVectors join_class_vectors(const std::vector<ClassVectors>& sources, const std::vector<fs::path>& files) {
  if (sources.size() == 1) return sources.front();
  ClassVectors joined;
  std::unordered_map<std::string, int64_t> place;
  for (const ClassVectors& source : sources) {
    joined.sources.push_back(source.vectors.size(1));
    for (const std::string& name : source.classes) {
      if (place.emplace(name, static_cast<int64_t>(joined.classes.size())).second) joined.classes.push_back(name);
    }
  }
  const auto dim = std::accumulate(joined.sources.begin(), joined.sources.end(), int64_t{0});
  joined.vectors = Array::zeros({static_cast<int64_t>(joined.classes.size()), dim});
  auto vectors = mutable_matrix_of<float>(joined.vectors);
  int64_t column = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto own = matrix_of<float>(sources[i].vectors);
    const float length = median_length(sources[i].vectors);
    for (int64_t row = 0; row < own.rows(); ++row)
      vectors.row(place.at(sources[i].classes[static_cast<size_t>(row)])).segment(column, own.cols()) =
          own.row(row) / length;
    column += own.cols();
    const size_t without = joined.classes.size() - sources[i].classes.size();
    if (without > 0)
      logger().warn("{} has no vector for {} of the {} classes", files[i].string(), without, joined.classes.size());
  }
  return joined;
}

}  // namespace protocom
