#include "knowledge/class_vectors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/npz.h"
#include "knowledge/detail/vector_number.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

/// Rows as they stand in a file.
struct NamedRows {
  std::vector<std::string> names;  // [n]
  at::Tensor rows;                 // float32 [n, e]
};

/// The first of the names that the file has.
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
    fail("{} holds vectors of several sources: give the files that it was made of", path.string());
  if (!rows || !names)
    fail("{}: expected 'vectors' [classes, numbers] and 'names' (the classes' names), found {}", path.string(),
         fmt::join(reader.names(), ", "));
  return {reader.strings(*names), reader.tensor(*rows)};
}

NamedRows read_rows_of_npy(const fs::path& path, const fs::path& names) {
  if (names.empty())
    fail_usage("{} has no names of classes: --names takes a text file with a name a line, in the order of the rows",
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
  NamedRows found{{}, at::empty({static_cast<int64_t>(csv.rows.size()), e})};
  float* value = found.rows.data_ptr<float>();
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
  fail("{}: vectors of classes are read from .npz, .npy (with --names) and .csv", path.string());
}

void check_rows(const NamedRows& found, const fs::path& path) {
  const at::Tensor& rows = found.rows;
  if (rows.dim() != 2 || !at::isFloatingType(rows.scalar_type()) || rows.size(1) == 0)
    fail("{}: the vectors are {} [{}], expected real numbers [classes, numbers]", path.string(),
         toString(rows.scalar_type()), fmt::join(rows.sizes(), ", "));
  if (rows.size(0) != static_cast<int64_t>(found.names.size()))
    fail("{}: {} vectors with {} names of classes", path.string(), rows.size(0), found.names.size());
  if (rows.size(0) == 0) fail("{} holds no vector", path.string());
  check_features(rows, path.string());
  const at::Tensor empty = rows.ne(0).any(1).logical_not().nonzero();
  if (empty.size(0) > 0)
    fail("{}: the vector of class '{}' is all zeros", path.string(),
         excerpt(found.names[static_cast<size_t>(empty[0][0].item<int64_t>())]));
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
  at::Tensor rows = found.rows.to(at::kFloat);
  if (classes < rows.size(0)) {
    const at::Tensor of = at::tensor(owner, at::kLong);
    const at::Tensor directions = rows / rows.norm(2, 1, true);
    rows = at::zeros({classes, rows.size(1)}).index_add_(0, of, directions) /
           at::zeros({classes}).index_add_(0, of, at::ones({directions.size(0)})).unsqueeze(1);
  }
  warn_of_same_but_capitals(result.classes, fmt::format("classes of {}", path.string()));
  result.vectors = rows.contiguous();
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
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < sources.size(); ++i) {
    std::vector<int64_t> rows;
    for (const std::string& name : sources[i].classes) rows.push_back(place.at(name));
    const at::Tensor scaled = sources[i].vectors / sources[i].vectors.norm(2, 1).median();
    parts.push_back(at::zeros({static_cast<int64_t>(joined.classes.size()), joined.sources[i]})
                        .index_copy_(0, at::tensor(rows, at::kLong), scaled));
    if (rows.size() < joined.classes.size())
      logger().warn("{} has no vector for {} of the {} classes", files[i].string(), joined.classes.size() - rows.size(),
                    joined.classes.size());
  }
  joined.vectors = at::cat(parts, 1);
  return joined;
}

}  // namespace protocom
