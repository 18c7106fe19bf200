#include <ATen/ATen.h>

#include <unordered_map>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/json.h"
#include "protocom/core/near_matches.h"
#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"
#include "serve/stored_tensor.h"

namespace protocom {
namespace {

/// Live classes with their live name, description and moments.
constexpr const char* kClasses =
    "SELECT c.id, n.name, c.time, d.title, d.association, d.embedding, d.source, m.count, m.sum, m.sum_squares "
    "FROM classes c JOIN names n ON n.class = c.id AND n.removed_by IS NULL "
    "JOIN descriptions d ON d.class = c.id AND d.removed_by IS NULL "
    "LEFT JOIN moments m ON m.class = c.id AND m.removed_by IS NULL WHERE c.removed_by IS NULL";
enum ClassColumn { kId, kName, kTime, kTitle, kAssociation, kEmbedding, kSource, kCount, kSum, kSumSquares };

constexpr const char* kExamples =
    "SELECT e.id, n.name, e.source, e.hash, e.time FROM examples e "
    "JOIN names n ON n.class = e.class AND n.removed_by IS NULL WHERE e.removed_by IS NULL";

ClassDescription description_at(const Statement& row, const RecognizerSettings& settings, const std::string& what) {
  ClassDescription description;
  const auto attributes = static_cast<int64_t>(settings.attributes.size());
  description.title = row.text(kTitle);
  description.association = from_blob(row.blob(kAssociation), at::kFloat, attributes, what);
  description.embedding = from_blob(row.blob(kEmbedding), at::kFloat, settings.embedding_dim, what);
  description.embedding_source = row.text(kSource);
  return description;
}

std::string where(const Database& database, const Statement& class_row) {
  return fmt::format("{}: class '{}'", database.path().string(), excerpt(class_row.text(kName)));
}

/// Of images whose features were not kept; what there is of the others is added by add_rest.
void read_moments(const Statement& row, int64_t dim, const std::string& what, StoredClass& to) {
  if (row.is_null(kCount)) return;
  to.count = row.number(kCount);
  if (to.count < 1) fail("{} is damaged: moments of {} images", what, to.count);
  to.sum = from_blob(row.blob(kSum), at::kDouble, dim, what);
  to.sum_squares = from_blob(row.blob(kSumSquares), at::kDouble, dim, what);
}

/// Features of a class as they lie in the file.
struct Rows {
  std::string bytes;
  std::vector<KeptExample> examples;
};

/// By id of their class.
std::unordered_map<int64_t, Rows> read_rows(const Database& database) {
  std::unordered_map<int64_t, Rows> rows;
  Statement examples = database.prepare(
      "SELECT class, id, feature, source FROM examples WHERE removed_by IS NULL AND feature IS NOT NULL ORDER BY id");
  while (examples.step()) {
    Rows& own = rows[examples.number(0)];
    own.examples.push_back({examples.number(1), examples.text(3)});
    own.bytes += examples.blob(2);
  }
  return rows;
}

at::ScalarType type_of(const RecognizerSettings& settings) {
  return settings.feature_type == FeatureType::kFloat16 ? at::kHalf : at::kFloat;
}

/// Features where all images have one, else moments of all.
void take_rows(const Rows& rows, const RecognizerSettings& settings, const std::string& what, StoredClass& to) {
  const auto n = static_cast<int64_t>(rows.examples.size());
  const at::Tensor flat = from_blob(rows.bytes, type_of(settings), n * settings.feature_dim, what);
  const at::Tensor features = flat.to(at::kFloat).view({n, settings.feature_dim});
  if (!to.sum.defined()) {
    to.features = features;
  } else {
    const at::Tensor exact = features.to(at::kDouble);
    to.sum += exact.sum(0);
    to.sum_squares += (exact * exact).sum(0);
  }
  to.count += n;
}

/// One class without features makes all answer by moments.
void complete_moments(EnrolledClasses& enrolled) {
  if (enrolled.have_features()) return;
  for (StoredClass& one : enrolled.classes) {
    if (one.sum.defined()) continue;
    const at::Tensor exact = one.features.to(at::kDouble);
    one.sum = exact.sum(0);
    one.sum_squares = (exact * exact).sum(0);
  }
}

ExampleEntry example_at(const Statement& row) {
  return {row.number(0), row.text(1), row.text(2), row.text(3), row.number(4)};
}

}  // namespace

RecognizerSnapshot RecognizerFile::snapshot() const {
  return reading(path(), [&] {
    const Transaction view(*database_, Access::kRead);
    RecognizerSnapshot snapshot;
    snapshot.revision = revision();
    snapshot.enrolled.feature_dim = settings_.feature_dim;
    snapshot.enrolled.attributes = settings_.attributes;
    auto rows = read_rows(*database_);
    Statement classes = database_->prepare(std::string(kClasses) + " ORDER BY c.id");
    while (classes.step()) {
      const std::string what = where(*database_, classes);
      StoredClass one;
      one.name = classes.text(kName);
      one.description = description_at(classes, settings_, what);
      read_moments(classes, settings_.feature_dim, what, one);
      Rows& own = rows[classes.number(kId)];
      take_rows(own, settings_, what, one);
      snapshot.enrolled.classes.push_back(std::move(one));
      snapshot.examples.push_back(std::move(own.examples));
    }
    complete_moments(snapshot.enrolled);
    snapshot.calibration = calibration();
    return snapshot;
  });
}

std::vector<ClassEntry> RecognizerFile::list_classes() const {
  return reading(path(), [&] {
    const Transaction view(*database_, Access::kRead);
    std::vector<ClassEntry> entries;
    Statement classes = database_->prepare(std::string(kClasses) + " ORDER BY c.id");
    while (classes.step()) entries.push_back(entry_at(classes));
    return entries;
  });
}

std::optional<ClassEntry> RecognizerFile::find_class(const std::string& name) const {
  return reading(path(), [&]() -> std::optional<ClassEntry> {
    Statement one = database_->prepare(std::string(kClasses) + " AND n.name = ?");
    one.bind(name);
    if (!one.step()) return std::nullopt;
    return entry_at(one);
  });
}

ClassEntry RecognizerFile::entry_at(const Statement& row) const {
  ClassEntry entry;
  entry.id = row.number(kId);
  entry.name = row.text(kName);
  entry.time = row.number(kTime);
  entry.description = description_at(row, settings_, where(*database_, row));
  Statement count = database_->prepare(
      "SELECT count(*) FROM examples WHERE class = ? AND removed_by IS NULL AND feature IS NOT NULL");
  entry.images = count.bind(entry.id).only_number() + row.number(kCount);
  return entry;
}

std::vector<std::string> RecognizerFile::class_names() const {
  std::vector<std::string> names;
  Statement rows = database_->prepare("SELECT name FROM names WHERE removed_by IS NULL ORDER BY class");
  while (rows.step()) names.push_back(rows.text(0));
  return names;
}

int64_t RecognizerFile::class_id(const std::string& name) const {
  Statement one = database_->prepare("SELECT class FROM names WHERE name = ? AND removed_by IS NULL");
  if (one.bind(name).step()) return one.number(0);
  fail("{} has no class '{}'{}", path().string(), name, did_you_mean(name, class_names()));
}

std::vector<ExampleEntry> RecognizerFile::list_examples(const std::string& class_name) const {
  return reading(path(), [&] {
    std::vector<ExampleEntry> entries;
    Statement rows = database_->prepare(kExamples + std::string(class_name.empty() ? "" : " AND e.class = ?") +
                                        " ORDER BY e.class, e.id");
    if (!class_name.empty()) rows.bind(class_id(class_name));
    while (rows.step()) entries.push_back(example_at(rows));
    return entries;
  });
}

ExampleEntry RecognizerFile::example(int64_t id) const {
  return reading(path(), [&] {
    Statement row = database_->prepare(std::string(kExamples) + " AND e.id = ?");
    if (!row.bind(id).step()) fail("{} has no example {}", path().string(), id);
    return example_at(row);
  });
}

std::string RecognizerFile::thumbnail(int64_t example_id) const {
  return reading(path(), [&] {
    const ExampleEntry found = example(example_id);
    Statement row = database_->prepare("SELECT jpeg FROM thumbnails WHERE example = ? AND removed_by IS NULL");
    return row.bind(found.id).step() ? row.text(0) : std::string();
  });
}

std::optional<nlohmann::json> RecognizerFile::calibration() const {
  return reading(path(), [&]() -> std::optional<nlohmann::json> {
    Statement row = database_->prepare("SELECT json FROM calibrations WHERE removed_by IS NULL");
    if (!row.step()) return std::nullopt;
    return parse_json(row.text(0), path().string());
  });
}

std::vector<ChangeEntry> RecognizerFile::changes(int64_t most) const {
  return reading(path(), [&] {
    std::vector<ChangeEntry> entries;
    Statement rows = database_->prepare("SELECT id, what, time FROM changes ORDER BY id DESC LIMIT ?");
    rows.bind(most);
    while (rows.step()) entries.push_back({rows.number(0), rows.text(1), rows.number(2)});
    return entries;
  });
}

}  // namespace protocom
