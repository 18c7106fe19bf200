#include "store/detail/read_examples.h"

#include <algorithm>

#include "base/error.h"
#include "io/files.h"
#include "store/detail/change.h"

namespace protocom {
namespace {

[[noreturn]] void refuse_feature(const Database& database, int64_t class_id) {
  Statement row = database.prepare("SELECT name FROM names WHERE class = ? AND removed_by IS NULL", class_id);
  const std::string name = row.step() ? row.text(0) : std::to_string(class_id);
  fail("{}: class '{}' is damaged: a feature has another size", database.path().string(), excerpt(name));
}

int64_t bytes_of_feature(const RecognizerSettings& settings) {
  return settings.feature_dim * size_of(type_of(settings));
}

/// Returns the numbers [m, d] in bytes, which are copied only if they are of another type.
Array decode_numbers(std::string&& bytes, const RecognizerSettings& settings) {
  if (bytes.empty()) return Array::zeros({0, settings.feature_dim});
  const auto rows = static_cast<int64_t>(bytes.size()) / bytes_of_feature(settings);
  const auto owned = std::make_shared<std::string>(std::move(bytes));
  const Array read = Array::view(owned->data(), {rows, settings.feature_dim}, type_of(settings), owned);
  return read.to(NumberType::kFloat32);
}

/// Returns an upper bound for the bytes of all features: at most the file's size, whatever the file states.
size_t most_bytes(const Database& database, const RecognizerSettings& settings) {
  const auto rows = database.number("SELECT count(*) FROM examples WHERE removed_by IS NULL").value_or(0);
  std::error_code error;
  const auto size = std::filesystem::file_size(database.path(), error);
  return error ? 0 : std::min(static_cast<size_t>(rows * bytes_of_feature(settings)), static_cast<size_t>(size));
}

std::string query_of(const ExampleRange& range) {
  return std::string(
             "SELECT class, id, source, CASE WHEN typeof(feature) = 'blob' AND length(feature) = ? THEN feature END, "
             "taken "
             "FROM examples ") +
         (range.since ? "INDEXED BY examples_added " : "") + "WHERE removed_by IS NULL" +
         (range.class_id ? " AND class = ?" : "") + (range.since ? " AND added_by > ?" : "") + " ORDER BY id";
}

}  // namespace

Examples read_examples(const Database& database, const RecognizerSettings& settings, const ExampleRange& range) {
  Statement row = database.prepare(query_of(range), bytes_of_feature(settings));
  if (range.class_id) row.bind(*range.class_id);
  if (range.since) row.bind(*range.since);
  Examples read;
  std::string bytes;
  if (!range.class_id) bytes.reserve(most_bytes(database, settings));
  for (int64_t i = 0; row.step(); ++i) {
    if (row.is_null(3)) refuse_feature(database, row.number(0));
    ExamplesOfClass& own = read.of_class[row.number(0)];
    own.rows.push_back(i);
    own.examples.push_back({row.number(1), row.text(2), row.real(4)});
    bytes += row.blob(3);
  }
  read.features = decode_numbers(std::move(bytes), settings);
  return read;
}

Array features_of(const Examples& examples, const std::vector<int64_t>& rows) {
  if (rows.empty()) return examples.features.rows(0, 0);
  const auto count = static_cast<int64_t>(rows.size());
  if (rows.back() - rows.front() + 1 == count) return examples.features.rows(rows.front(), rows.front() + count);
  return examples.features.gathered(rows);
}

}  // namespace protocom
