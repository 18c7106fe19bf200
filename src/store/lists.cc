#include "base/error.h"
#include "base/near_matches.h"
#include "io/files.h"
#include "io/json.h"
#include "store/detail/class_query.h"
#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {
namespace {

constexpr const char* kExamples =
    "SELECT e.id, n.name, e.source, e.hash, e.time, e.taken, "
    "EXISTS (SELECT 1 FROM confirmations c WHERE c.example = e.id AND c.removed_by IS NULL) FROM examples e "
    "JOIN names n ON n.class = e.class AND n.removed_by IS NULL WHERE e.removed_by IS NULL";

ExampleInfo example_at(const Statement& row) {
  return {row.number(0), row.text(1), row.text(2), row.text(3), row.number(4), row.real(5), row.number(6) != 0};
}

}  // namespace

std::vector<ClassInfo> RecognizerFile::list_classes() const {
  return reading(path(), [&] {
    const ReadView view(*database_);
    std::vector<ClassInfo> entries;
    Statement classes = database_->prepare(live_classes(kCountImages) + " ORDER BY c.id");
    while (classes.step()) entries.push_back(entry_at(classes));
    return entries;
  });
}

bool RecognizerFile::has_class(const std::string& name) const {
  check_class_name(*database_, name);
  return reading(path(), [&] { return live_class(*database_, name).has_value(); });
}

std::optional<ClassInfo> RecognizerFile::find_class(const std::string& name) const {
  check_class_name(*database_, name);
  return reading(path(), [&]() -> std::optional<ClassInfo> {
    const ReadView view(*database_);
    const std::optional<int64_t> id = live_class(*database_, name);
    if (!id) return std::nullopt;
    Statement statement = database_->prepare(live_classes(kCountImages) + " AND c.id = ?", *id);
    if (!statement.step()) return std::nullopt;
    return entry_at(statement);
  });
}

ClassInfo RecognizerFile::entry_at(const Statement& row) const {
  ClassInfo entry;
  entry.id = row.number(kId);
  entry.name = row.text(kName);
  entry.time = row.number(kTime);
  entry.images = row.number(kImages);
  const ClassDescription description = description_at(row, settings_, class_label(*database_, row));
  entry.title = description.title;
  entry.embedding_source = description.embedding_source;
  const Array weights = description.association.to(NumberType::kFloat32);
  const auto* weight = weights.data<float>();
  for (size_t a = 0; a < settings_.attributes.size(); ++a) {
    if (weight[a] > 0) entry.attributes.push_back({settings_.attributes[a], weight[a]});
  }
  return entry;
}

std::vector<std::string> RecognizerFile::class_names() const {
  std::vector<std::string> names;
  Statement rows = database_->prepare("SELECT name FROM names WHERE removed_by IS NULL ORDER BY class");
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

int64_t RecognizerFile::class_id(const std::string& name) const {
  if (const auto id = live_class(*database_, name)) return *id;
  fail("{} has no class '{}'{}", path().string(), name, did_you_mean(name, class_names()));
}

std::vector<ExampleInfo> RecognizerFile::list_examples(const std::string& class_name) const {
  if (!class_name.empty()) check_class_name(*database_, class_name);
  return reading(path(), [&] {
    std::vector<ExampleInfo> entries;
    Statement rows = database_->prepare(kExamples + std::string(class_name.empty() ? "" : " AND e.class = ?") +
                                        " ORDER BY e.class, e.id");
    if (!class_name.empty()) rows.bind(class_id(class_name));
    while (rows.step()) entries.push_back(example_at(rows));
    return entries;
  });
}

ExampleInfo RecognizerFile::example(int64_t id) const {
  return reading(path(), [&] {
    Statement row = database_->prepare(std::string(kExamples) + " AND e.id = ?", id);
    if (!row.step()) fail("{} has no example {}", path().string(), id);
    return example_at(row);
  });
}

std::vector<int64_t> RecognizerFile::confirmed_examples() const {
  return reading(path(), [&] {
    std::vector<int64_t> ids;
    Statement rows = database_->prepare("SELECT example FROM confirmations WHERE removed_by IS NULL ORDER BY example");
    while (rows.step()) ids.push_back(rows.number(0));
    return ids;
  });
}

std::string RecognizerFile::thumbnail(int64_t example_id) const {
  return reading(path(), [&] {
    Statement row = database_->prepare("SELECT jpeg FROM thumbnails WHERE example = ? AND removed_by IS NULL",
                                       example(example_id).id);
    return row.step() ? row.text(0) : std::string();
  });
}

std::optional<nlohmann::json> RecognizerFile::calibration() const {
  return reading(path(), [&]() -> std::optional<nlohmann::json> {
    Statement row = database_->prepare("SELECT json FROM calibrations WHERE removed_by IS NULL");
    if (!row.step()) return std::nullopt;
    return parse_json(row.text(0), path().string());
  });
}

}  // namespace protocom
