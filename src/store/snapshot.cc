#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/feature_values.h"
#include "io/files.h"
#include "store/detail/class_query.h"
#include "store/detail/class_rules.h"
#include "store/detail/read_examples.h"
#include "store/detail/stored_array.h"

namespace protocom {
namespace {

constexpr size_t kMostSteps = 1000;

/// The parts of a class that must be reread.
enum class Reread { kDescription, kNewExamples, kAll };

using Changed = std::map<int64_t, Reread>;  // by class id

/// Whether the file's present state follows from that at a revision by changes that it still has.
bool follows(const Database& database, int64_t revision, int64_t now) {
  if (revision > 0) return database.prepare("SELECT 1 FROM changes WHERE id = ?", revision).step();
  // There was no change that could be undone. None was dropped if the first one is the next that was possible then.
  return revision == now || database.number("SELECT min(id) FROM changes") == 1 - revision;
}

void note_change(int64_t id, Reread what, Changed& in) {
  Reread& noted = in.emplace(id, what).first->second;
  noted = std::max(noted, what);
}

/// The columns of a table that name the changes of a row.
struct ChangeColumn {
  const char* table;
  const char* column;  // holds the class's id
  const char* when;
  Reread reread;
};

constexpr ChangeColumn kChangeColumns[] = {
    {"classes", "id", "added_by", Reread::kAll},
    {"classes", "id", "removed_by", Reread::kAll},
    {"names", "class", "added_by", Reread::kDescription},
    {"names", "class", "removed_by", Reread::kDescription},
    {"descriptions", "class", "added_by", Reread::kDescription},
    {"descriptions", "class", "removed_by", Reread::kDescription},
    {"examples", "class", "added_by", Reread::kNewExamples},
    {"examples", "class", "removed_by", Reread::kAll},
};

/// Returns the classes in which the file differs from the state after the steps; nothing if that is unknown. Removes
/// steps whose last change was undone: its effects were reverted.
std::optional<Changed> changed_since(const Database& database, int64_t now, std::vector<SnapshotStep>& steps) {
  Changed changed;
  for (; !steps.empty() && !follows(database, steps.back().revision, now); steps.pop_back()) {
    for (const int64_t id : steps.back().classes) note_change(id, Reread::kAll, changed);
  }
  if (steps.empty()) return std::nullopt;
  for (const ChangeColumn& change : kChangeColumns) {
    Statement rows = database.prepare(
        fmt::format("SELECT DISTINCT {} FROM {} WHERE {} > ?", change.column, change.table, change.when),
        std::abs(steps.back().revision));
    while (rows.step()) note_change(rows.number(0), change.reread, changed);
  }
  return changed;
}

/// A class as stored in the file.
struct ReadClass {
  int64_t id = 0;
  StoredClass stored;
  std::vector<KeptExample> examples;
  int64_t kept = 0;  // number of its first features that the snapshot already has
};

void take_features(const Array& features, const std::string& what, StoredClass& to) {
  check_features(features, what + " is damaged");
  to.features = features;
  to.count = features.size(0);
}

/// Returns the class without features.
ReadClass bare_class_at(const Database& database, const Statement& row, const RecognizerSettings& settings) {
  const std::string what = class_label(database, row);
  ReadClass read;
  read.id = row.number(kId);
  read.stored.name = row.text(kName);
  read.stored.description = description_at(row, settings, what);
  return read;
}

ReadClass class_at(const Database& database, const Statement& row, const RecognizerSettings& settings,
                   Examples& examples) {
  ReadClass read = bare_class_at(database, row, settings);
  ExamplesOfClass& own = examples.of_class[read.id];
  take_features(features_of(examples, own.rows), class_label(database, row), read.stored);
  read.examples = std::move(own.examples);
  return read;
}

/// Adds a class's features from row `from` on to the snapshot's sum, or subtracts them.
void count_features(const StoredClass& stored_class, int64_t sign, RecognizerSnapshot& in, int64_t from = 0) {
  const Array& rows = stored_class.features;
  for (int64_t i = from; i < rows.size(0); ++i) {
    const auto* next = rows.data<float>() + i * rows.size(1);
    for (double& sum : in.feature_sum) sum += static_cast<double>(sign) * static_cast<double>(*next++);
  }
  in.feature_count += sign * (rows.size(0) - from);
}

void read_all(const Database& database, const RecognizerSettings& settings, RecognizerSnapshot& to) {
  to = {};
  to.enrolled.feature_dim = settings.feature_dim;
  to.enrolled.attributes = settings.attributes;
  to.feature_sum.assign(static_cast<size_t>(settings.feature_dim), 0);
  Examples examples = read_examples(database, settings);
  Statement row = database.prepare(live_classes() + " ORDER BY c.id");
  while (row.step()) {
    ReadClass read = class_at(database, row, settings, examples);
    count_features(read.stored, 1, to);
    to.class_ids.push_back(read.id);
    to.enrolled.classes.push_back(std::move(read.stored));
    to.examples.push_back(std::move(read.examples));
  }
}

/// Replaces individual classes of a snapshot.
class SnapshotEditor {
 public:
  explicit SnapshotEditor(RecognizerSnapshot& snapshot) : to_(snapshot), before_(snapshot.class_ids.size()) {
    std::iota(before_.begin(), before_.end(), 0);
  }

  /// Sets the class to its present state; nothing: it is gone.
  void put(int64_t id, std::optional<ReadClass> now) {
    const int64_t at = find_place(id);
    const bool was = holds(at, id);
    if (was && (!now || now->kept == 0)) count_features(to_.enrolled.classes[static_cast<size_t>(at)], -1, to_);
    if (was && !now) take_out(at);
    if (!now) return;
    if (!was) make_room(at, id);
    count_features(now->stored, 1, to_, now->kept);
    to_.enrolled.classes[static_cast<size_t>(at)] = std::move(now->stored);
    to_.examples[static_cast<size_t>(at)] = std::move(now->examples);
    before_[static_cast<size_t>(at)] = -1;
  }

  /// Returns a class with the images of the snapshot followed by those of `added`; nothing if the snapshot does not
  /// have them, or not before the added ones.
  [[nodiscard]] std::optional<ReadClass> extended(ReadClass added) const {
    const int64_t at = find_place(added.id);
    if (!holds(at, added.id)) return std::nullopt;
    const Array& own = to_.enrolled.classes[static_cast<size_t>(at)].features;
    std::vector<KeptExample> examples = to_.examples[static_cast<size_t>(at)];
    if (!examples.empty() && !added.examples.empty() && examples.back().id >= added.examples.front().id)
      return std::nullopt;
    added.kept = own.size(0);
    added.stored.count += added.kept;
    added.stored.features = added.examples.empty() ? own : Array::joined({own, added.stored.features});
    examples.insert(examples.end(), added.examples.begin(), added.examples.end());
    added.examples = std::move(examples);
    return added;
  }

  /// Returns for each class its original index, -1 for one that was set.
  [[nodiscard]] std::vector<int64_t> before() && { return std::move(before_); }

 private:
  [[nodiscard]] int64_t find_place(int64_t id) const {
    return std::lower_bound(to_.class_ids.begin(), to_.class_ids.end(), id) - to_.class_ids.begin();
  }

  [[nodiscard]] bool holds(int64_t at, int64_t id) const {
    return at < static_cast<int64_t>(to_.class_ids.size()) && to_.class_ids[static_cast<size_t>(at)] == id;
  }

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

std::vector<int64_t> read_some(const Database& database, const RecognizerSettings& settings, const Changed& changed,
                               int64_t since, RecognizerSnapshot& to) {
  SnapshotEditor editor(to);
  Statement row = database.prepare(live_classes() + " AND c.id = ?");
  const auto read = [&](const ExampleRange& range) {
    Examples examples = read_examples(database, settings, range);
    return class_at(database, row, settings, examples);
  };
  for (const auto& [id, what] : changed) {
    std::optional<ReadClass> now;
    if (row.bind(id).step()) {
      if (what != Reread::kAll) now = editor.extended(read({id, since}));
      if (!now) now = read({id});
    }
    row.reset();
    editor.put(id, std::move(now));
  }
  return std::move(editor).before();
}

/// Returns the ids of the classes.
std::vector<int64_t> ids_of(const Changed& changed) {
  std::vector<int64_t> ids;
  for (const auto& item : changed) ids.push_back(item.first);
  return ids;
}

/// Returns when the images were taken; empty: unknown for all.
std::vector<std::optional<double>> times_of(const std::vector<KeptExample>& examples) {
  const auto is_known = [](const KeptExample& example) { return example.taken.has_value(); };
  std::vector<std::optional<double>> times;
  if (std::none_of(examples.begin(), examples.end(), is_known)) return times;
  for (const KeptExample& example : examples) times.push_back(example.taken);
  return times;
}

/// Returns the stated moments of examples, by their hashes, renumbered 0, 1, ..., or kNotStated.
std::vector<int64_t> stated_moments_of(const Database& database, const std::map<std::string, int64_t>& stated,
                                       const std::vector<KeptExample>& examples) {
  Statement row = database.prepare("SELECT hash FROM examples WHERE id = ?");
  std::map<int64_t, int64_t> number = {{kNotStated, kNotStated}};
  std::vector<int64_t> moments;
  for (const KeptExample& example : examples) {
    const auto found = row.bind(example.id).step() ? stated.find(row.text(0)) : stated.end();
    const int64_t one = found == stated.end() ? kNotStated : found->second;
    moments.push_back(number.emplace(one, static_cast<int64_t>(number.size()) - 1).first->second);
    row.reset();
  }
  return moments;
}

/// Reads a JPEG for each of the examples, empty if none was kept.
std::vector<std::string> read_thumbnails(const Database& database, const std::vector<ExampleInfo>& examples) {
  std::vector<std::string> thumbnails;
  Statement row = database.prepare("SELECT jpeg FROM thumbnails WHERE example = ? AND removed_by IS NULL");
  for (const ExampleInfo& entry : examples) {
    thumbnails.push_back(row.bind(entry.id).step() ? row.text(0) : std::string());
    row.reset();
  }
  return thumbnails;
}

}  // namespace

RecognizerSnapshot RecognizerFile::snapshot() const {
  RecognizerSnapshot snapshot;
  refresh(snapshot);
  return snapshot;
}

RecognizerContents RecognizerFile::contents() const {
  return reading(path(), [&] {
    const ReadView view(*database_);
    check_classes_are_whole(*database_);
    RecognizerContents made;
    made.examples = list_examples("");
    made.thumbnails = read_thumbnails(*database_, made.examples);
    made.calibration = calibration();
    made.unlabelled = unlabelled_contents(*database_, settings_);
    Statement row = database_->prepare(live_classes() + " ORDER BY c.id");
    while (row.step()) made.classes.push_back(bare_class_at(*database_, row, settings_).stored);
    const Examples read = read_examples(*database_, settings_);
    std::unordered_map<int64_t, int64_t> row_of;  // by example id
    for (const auto& [id, own] : read.of_class) {
      for (size_t i = 0; i < own.rows.size(); ++i) row_of[own.examples[i].id] = own.rows[i];
    }
    std::vector<int64_t> rows;
    for (const ExampleInfo& entry : made.examples) rows.push_back(row_of.at(entry.id));
    made.features = read.features.gathered(rows);
    return made;
  });
}

void RecognizerFile::state_moments(RecognizerSnapshot& snapshot) const {
  for (size_t k = 0; k < snapshot.enrolled.classes.size(); ++k) {
    StoredClass& own = snapshot.enrolled.classes[k];
    own.taken = times_of(snapshot.examples[k]);
    if (!settings_.stated_moments.empty() && own.moments.size() != snapshot.examples[k].size())
      own.moments = stated_moments_of(*database_, settings_.stated_moments, snapshot.examples[k]);
  }
}

std::vector<int64_t> RecognizerFile::refresh(RecognizerSnapshot& snapshot) const {
  RecognizerSnapshot made = std::exchange(snapshot, {});
  std::vector<int64_t> before;
  reading(path(), [&] {
    const ReadView view(*database_);
    const int64_t now = revision();
    if (const auto changed = changed_since(*database_, now, made.steps)) {
      before = read_some(*database_, settings_, *changed, std::abs(made.steps.back().revision), made);
      made.steps.push_back({now, ids_of(*changed)});
    } else {
      read_all(*database_, settings_, made);
      before.assign(made.class_ids.size(), -1);
      made.steps = {{now, {}}};
    }
    if (made.steps.size() > kMostSteps) made.steps.erase(made.steps.begin());
    state_moments(made);
    made.revision = made.steps.back().revision;
    made.enrolled.unlabelled = read_unlabelled(*database_, settings_);
    made.calibration = calibration();
  });
  snapshot = std::move(made);
  return before;
}

}  // namespace protocom
