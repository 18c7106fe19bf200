#include "store/detail/change.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/feature_values.h"
#include "store/detail/schema.h"
#include "store/detail/stored_array.h"

namespace protocom {
namespace {

/// Disk space to leave free: during a change SQLite keeps the overwritten content in a file beside it, so undoing and
/// removing need space too.
constexpr uint64_t kRoomKept = uint64_t{4} << 20;

}  // namespace

int64_t seconds_now() { return static_cast<int64_t>(std::time(nullptr)); }

std::string count_of(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

int64_t bytes_of(const Database& database) {
  return database.number("PRAGMA page_count").value_or(0) * database.number("PRAGMA page_size").value_or(0);
}

void check_room(const Database& database, int64_t before) {
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(database.path(), error);
  if (error || disk.capacity == 0) return;  // unknown for this kind of disk
  const auto added = static_cast<uint64_t>(std::max<int64_t>(0, bytes_of(database) - before));
  if (disk.available >= 2 * added + kRoomKept) return;
  constexpr uint64_t kKibibyte = 1024;
  throw DatabaseError(
      DatabaseFault::kFull,
      fmt::format("{}: the disk is nearly full ({} KiB are free): {} KiB are kept free so that what is enrolled can be "
                  "undone and removed; nothing was changed; free some space",
                  database.path().string(), disk.available / kKibibyte, (2 * added + kRoomKept) / kKibibyte));
}

void check_number_left(const Database& database) {
  // SQLite continues from the larger of the two.
  const auto last = database.number(
      "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0), coalesce((SELECT max(id) FROM "
      "changes), 0))");
  if (last == std::numeric_limits<int64_t>::max())
    throw DatabaseError(
        DatabaseFault::kDamaged,
        fmt::format("{}: the file is damaged: no number follows that of its last change, {}; nothing was changed",
                    database.path().string(), *last));
}

NumberType type_of(const RecognizerSettings& settings) {
  return settings.feature_type == FeatureType::kFloat16 ? NumberType::kFloat16 : NumberType::kFloat32;
}

void check_examples(const RecognizerSettings& settings, const std::string& label, const NewExamples& examples) {
  const auto n = static_cast<int64_t>(examples.hashes.size());
  if (n == 0 && !examples.features.defined()) return;
  if (!examples.features.defined()) fail("{}: {} images without features", label, n);
  const Array& features = examples.features;
  if (features.dim() != 2 || features.size(0) != n || features.size(1) != settings.feature_dim)
    fail("{}: expected features of the shape [{}, {}], found [{}]", label, n, settings.feature_dim,
         fmt::join(features.shape(), ", "));
  check_features(features, label);
  if (!is_finite(features.to(type_of(settings))))
    fail("{}: features that are too large for the recognizer's numbers (float16)", label);
  for (const auto* texts : {&examples.sources, &examples.thumbnails}) {
    if (!texts->empty() && static_cast<int64_t>(texts->size()) != n)
      fail("{}: {} texts for {} images", label, texts->size(), n);
  }
  if (!examples.times.empty() && static_cast<int64_t>(examples.times.size()) != n)
    fail("{}: {} times for {} images", label, examples.times.size(), n);
  if (!examples.taken.empty() && static_cast<int64_t>(examples.taken.size()) != n)
    fail("{}: {} capture times for {} images", label, examples.taken.size(), n);
}

Change::Change(const Database& database, const std::string& what, std::optional<ChangeEntry>& made)
    : database_(database),
      transaction_(database, Access::kWrite),
      entry_{0, excerpt(what, 200), seconds_now()},
      made_(made) {
  made_.reset();
  check_number_left(database);
  forget_undone(database);
  database.prepare("INSERT INTO changes(time, what) VALUES(?, ?)", entry_.time, entry_.what).run();
  entry_.id = database.last_row();
}

void Change::call(const std::string& what) {
  entry_.what = excerpt(what, 200);
  database_.prepare("UPDATE changes SET what = ? WHERE id = ?", entry_.what, entry_.id).run();
}

void Change::commit() {
  transaction_.commit();
  made_ = entry_;
}

int64_t Change::remove(const std::string& table, const std::string& column, int64_t value) const {
  database_
      .prepare("UPDATE " + table + " SET removed_by = ? WHERE " + column + " = ? AND removed_by IS NULL", entry_.id,
               value)
      .run();
  return database_.rows_changed();
}

}  // namespace protocom
