#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "serve/class_query.h"
#include "serve/stored_tensor.h"

namespace protocom {
namespace {

constexpr size_t kMostSteps = 1000;

/// Which rows of Examples::features are a class's, ascending, and what they are.
struct ClassRows {
  std::vector<int64_t> rows;
  std::vector<KeptExample> examples;
};

struct Examples {
  std::unordered_map<int64_t, ClassRows> of_class;  // by its id
  at::Tensor features;                              // float32 [m, d]
};

[[noreturn]] void refuse_feature(const Database& database, int64_t class_id) {
  Statement row = database.prepare("SELECT name FROM names WHERE class = ? AND removed_by IS NULL");
  const std::string name = row.bind(class_id).step() ? row.text(0) : std::to_string(class_id);
  fail("{}: class '{}' is damaged: a feature has another size", database.path().string(), excerpt(name));
}

/// The numbers [m, d] of bytes, which are not copied unless they are of another type.
at::Tensor numbers_of(std::string&& bytes, const RecognizerSettings& settings) {
  const at::ScalarType type = settings.feature_type == FeatureType::kFloat16 ? at::kHalf : at::kFloat;
  const auto values = static_cast<int64_t>(bytes.size() / c10::elementSize(type));
  if (values == 0) return at::empty({0, settings.feature_dim});
  const auto owned = std::make_shared<std::string>(std::move(bytes));
  const at::Tensor flat = at::from_blob(
      owned->data(), {values}, [owned](void*) {}, at::TensorOptions(type));
  return flat.to(at::kFloat).view({-1, settings.feature_dim});
}

int64_t bytes_of_feature(const RecognizerSettings& settings) {
  return settings.feature_dim * (settings.feature_type == FeatureType::kFloat16 ? 2 : 4);
}

/// Of all features; the file holds no more than its size, whatever it says.
size_t most_bytes(const Database& database, const RecognizerSettings& settings) {
  const auto rows = database.number("SELECT count(*) FROM examples WHERE removed_by IS NULL").value_or(0);
  std::error_code error;
  const auto size = std::filesystem::file_size(database.path(), error);
  return error ? 0 : std::min(static_cast<size_t>(rows * bytes_of_feature(settings)), static_cast<size_t>(size));
}

/// Of all classes, or of the one of an id. A feature that says to have another size is not read: a damaged file must
/// not ask for memory.
Examples read_examples(const Database& database, const RecognizerSettings& settings, std::optional<int64_t> only = {}) {
  Statement row = database.prepare(
      std::string("SELECT class, id, source, CASE WHEN typeof(feature) = 'blob' AND length(feature) = ? THEN feature "
                  "END FROM examples WHERE removed_by IS NULL AND typeof(feature) <> 'null'") +
      (only ? " AND class = ?" : "") + " ORDER BY id");
  row.bind(bytes_of_feature(settings));
  if (only) row.bind(*only);
  Examples read;
  std::string bytes;
  if (!only) bytes.reserve(most_bytes(database, settings));
  for (int64_t i = 0; row.step(); ++i) {
    if (row.is_null(3)) refuse_feature(database, row.number(0));
    ClassRows& own = read.of_class[row.number(0)];
    own.rows.push_back(i);
    own.examples.push_back({row.number(1), row.text(2)});
    bytes += row.blob(3);
  }
  read.features = numbers_of(std::move(bytes), settings);
  return read;
}

at::Tensor features_of(const Examples& examples, const std::vector<int64_t>& rows) {
  if (rows.empty()) return examples.features.narrow(0, 0, 0);
  const auto count = static_cast<int64_t>(rows.size());
  if (rows.back() - rows.front() + 1 == count) return examples.features.narrow(0, rows.front(), count);
  return examples.features.index_select(0, at::tensor(rows, at::kLong));
}

/// A class as it lies in the file.
struct ReadClass {
  int64_t id = 0;
  StoredClass stored;
  std::vector<KeptExample> examples;
};

/// Of images whose features were not kept.
void read_moments(const Statement& row, int64_t dim, const std::string& what, StoredClass& to) {
  if (row.is_null(kCount)) return;
  to.count = row.number(kCount);
  if (to.count < 1) fail("{} is damaged: moments of {} images", what, to.count);
  to.sum = from_blob(row.blob(kSum), at::kDouble, dim, what);
  to.sum_squares = from_blob(row.blob(kSumSquares), at::kDouble, dim, what);
}

/// Features where all images have one, else moments of all.
void take_features(const at::Tensor& features, const std::string& what, StoredClass& to) {
  if (!is_finite(features)) fail("{} is damaged: it holds NaN or infinity", what);
  if (!to.sum.defined()) {
    to.features = features;
  } else {
    const at::Tensor exact = features.to(at::kDouble);
    to.sum += exact.sum(0);
    to.sum_squares += (exact * exact).sum(0);
  }
  to.count += features.size(0);
}

ReadClass class_at(const Database& database, const Statement& row, const RecognizerSettings& settings,
                   Examples& examples) {
  const std::string what = class_label(database, row);
  ReadClass read;
  read.id = row.number(kId);
  read.stored.name = row.text(kName);
  read.stored.description = description_at(row, settings, what);
  read_moments(row, settings.feature_dim, what, read.stored);
  ClassRows& own = examples.of_class[read.id];
  take_features(features_of(examples, own.rows), what, read.stored);
  read.examples = std::move(own.examples);
  return read;
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

/// Adds a class's features to the snapshot's sum, or takes them off.
void count_features(const StoredClass& one, int64_t sign, RecognizerSnapshot& in) {
  if (!one.features.defined()) return;
  const at::Tensor rows = one.features.contiguous();
  const auto* next = rows.data_ptr<float>();
  auto* sum = in.feature_sum.data_ptr<double>();
  for (int64_t i = 0; i < rows.size(0); ++i, next += rows.size(1)) {
    for (int64_t d = 0; d < rows.size(1); ++d) sum[d] += static_cast<double>(sign) * static_cast<double>(next[d]);
  }
  in.feature_count += sign * rows.size(0);
}

void read_all(const Database& database, const RecognizerSettings& settings, RecognizerSnapshot& to) {
  to = {};
  to.enrolled.feature_dim = settings.feature_dim;
  to.enrolled.attributes = settings.attributes;
  to.feature_sum = at::zeros({settings.feature_dim}, at::kDouble);
  Examples examples = read_examples(database, settings);
  Statement row = database.prepare(std::string(kLiveClasses) + " ORDER BY c.id");
  while (row.step()) {
    ReadClass read = class_at(database, row, settings, examples);
    count_features(read.stored, 1, to);
    to.class_ids.push_back(read.id);
    to.enrolled.classes.push_back(std::move(read.stored));
    to.examples.push_back(std::move(read.examples));
  }
}

bool is_there(const Database& database, int64_t change) {
  return database.prepare("SELECT 1 FROM changes WHERE id = ?").bind(change).step();
}

/// Ids of the classes in which the file differs from what the steps led to; nothing where that cannot be told. Steps
/// whose last change was undone are taken off: what they had changed has changed back.
std::optional<std::set<int64_t>> changed_since(const Database& database, std::vector<SnapshotStep>& steps) {
  std::set<int64_t> changed;
  for (; !steps.empty() && !is_there(database, steps.back().revision); steps.pop_back())
    changed.insert(steps.back().classes.begin(), steps.back().classes.end());
  if (steps.empty()) return std::nullopt;
  for (const auto& [table, column] : {std::pair{"classes", "id"},
                                      {"names", "class"},
                                      {"descriptions", "class"},
                                      {"examples", "class"},
                                      {"moments", "class"}}) {
    for (const char* when : {"added_by", "removed_by"}) {
      Statement rows = database.prepare(fmt::format("SELECT {} FROM {} WHERE {} > ?", column, table, when));
      rows.bind(steps.back().revision);
      while (rows.step()) changed.insert(rows.number(0));
    }
  }
  return changed;
}

/// A snapshot whose classes are exchanged one by one.
class Exchange {
 public:
  explicit Exchange(RecognizerSnapshot& snapshot) : to_(snapshot), before_(snapshot.class_ids.size()) {
    std::iota(before_.begin(), before_.end(), 0);
  }

  /// The class as it is now; nothing: it is gone.
  void put(int64_t id, std::optional<ReadClass> now) {
    const auto at = std::lower_bound(to_.class_ids.begin(), to_.class_ids.end(), id) - to_.class_ids.begin();
    const bool was = at < static_cast<int64_t>(to_.class_ids.size()) && to_.class_ids[static_cast<size_t>(at)] == id;
    if (was) count_features(to_.enrolled.classes[static_cast<size_t>(at)], -1, to_);
    if (was && !now) take_out(at);
    if (!now) return;
    if (!was) make_room(at, id);
    count_features(now->stored, 1, to_);
    to_.enrolled.classes[static_cast<size_t>(at)] = std::move(now->stored);
    to_.examples[static_cast<size_t>(at)] = std::move(now->examples);
    before_[static_cast<size_t>(at)] = -1;
  }

  /// For each class its place at the beginning, -1 for one that was put in.
  [[nodiscard]] std::vector<int64_t> before() && { return std::move(before_); }

 private:
  void take_out(int64_t at) {
    to_.class_ids.erase(to_.class_ids.begin() + at);
    to_.enrolled.classes.erase(to_.enrolled.classes.begin() + at);
    to_.examples.erase(to_.examples.begin() + at);
    before_.erase(before_.begin() + at);
  }

  void make_room(int64_t at, int64_t id) {
    to_.class_ids.insert(to_.class_ids.begin() + at, id);
    to_.enrolled.classes.insert(to_.enrolled.classes.begin() + at, StoredClass());
    to_.examples.insert(to_.examples.begin() + at, std::vector<KeptExample>());
    before_.insert(before_.begin() + at, -1);
  }

  RecognizerSnapshot& to_;
  std::vector<int64_t> before_;
};

std::vector<int64_t> read_some(const Database& database, const RecognizerSettings& settings,
                               const std::set<int64_t>& ids, RecognizerSnapshot& to) {
  Exchange exchange(to);
  Statement row = database.prepare(std::string(kLiveClasses) + " AND c.id = ?");
  for (const int64_t id : ids) {
    std::optional<ReadClass> now;
    if (row.bind(id).step()) {
      Examples examples = read_examples(database, settings, id);
      now = class_at(database, row, settings, examples);
    }
    row.reset();
    exchange.put(id, std::move(now));
  }
  return std::move(exchange).before();
}

}  // namespace

RecognizerSnapshot RecognizerFile::snapshot() const {
  RecognizerSnapshot snapshot;
  refresh(snapshot);
  return snapshot;
}

std::vector<int64_t> RecognizerFile::refresh(RecognizerSnapshot& snapshot) const {
  RecognizerSnapshot made = std::exchange(snapshot, {});
  std::vector<int64_t> before;
  reading(path(), [&] {
    const Transaction view(*database_, Access::kRead);
    const auto changed = changed_since(*database_, made.steps);
    if (changed) {
      before = read_some(*database_, settings_, *changed, made);
      made.steps.push_back({revision(), {changed->begin(), changed->end()}});
    } else {
      read_all(*database_, settings_, made);
      before.assign(made.class_ids.size(), -1);
      made.steps = {{revision(), {}}};
    }
    if (made.steps.size() > kMostSteps) made.steps.erase(made.steps.begin());
    made.revision = made.steps.back().revision;
    complete_moments(made.enrolled);
    made.calibration = calibration();
  });
  snapshot = std::move(made);
  return before;
}

}  // namespace protocom
