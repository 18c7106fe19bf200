#include <fmt/format.h>

#include "base/error.h"
#include "io/files.h"
#include "store/detail/database.h"
#include "store/detail/schema.h"
#include "store/recognizer_file.h"

namespace protocom {
namespace {

std::vector<ChangeEntry> entries_of(Statement rows) {
  std::vector<ChangeEntry> entries;
  while (rows.step()) entries.push_back({rows.number(0), rows.text(1), rows.number(2)});
  return entries;
}

std::vector<ChangeEntry> last_done(const Database& database, int64_t most) {
  return entries_of(database.prepare("SELECT id, what, time FROM changes ORDER BY id DESC LIMIT ?", most));
}

/// Returns the undone changes that can be redone: those after the last one that was not undone.
std::vector<ChangeEntry> next_undone(const Database& database, int64_t most) {
  return entries_of(database.prepare(
      "SELECT id, what, time FROM undone WHERE id > (SELECT coalesce(max(id), 0) FROM changes) ORDER BY id LIMIT ?",
      most));
}

/// Moves a change's entry from one list to the other.
void move_entry(const Database& database, int64_t change, const char* from, const char* to) {
  database
      .prepare(fmt::format("INSERT INTO {}(id, time, what) SELECT id, time, what FROM {} WHERE id = ?", to, from),
               change)
      .run();
  database.prepare(fmt::format("DELETE FROM {} WHERE id = ?", from), change).run();
}

/// Reverts a change: the rows that it added stay, marked as removed by the negative of its number. Rows that it removed
/// become live again, which is recorded. Rows that it both added and removed stay as they are.
void take_back(const Database& database, int64_t change) {
  // No valid change has such a number; the least integer has no negative.
  if (change < 1) fail("{}: the file is damaged: change number {} is out of range", database.path().string(), change);
  for (const char* table : changing_tables()) {
    database
        .prepare(fmt::format("INSERT INTO undone_removals(change, part, item) SELECT ?, '{0}', id FROM {0} "
                             "WHERE removed_by = ? AND added_by <> ?",
                             table),
                 change, change, change)
        .run();
    database
        .prepare(fmt::format("UPDATE {} SET removed_by = ? WHERE added_by = ? AND removed_by IS NULL", table), -change,
                 change)
        .run();
    database
        .prepare(fmt::format("UPDATE {} SET removed_by = NULL WHERE removed_by = ? AND added_by <> ?", table), change,
                 change)
        .run();
  }
  move_entry(database, change, "changes", "undone");
}

/// Redoes a change. Only names of known tables are looked up in what the file states.
void do_again(const Database& database, int64_t change) {
  for (const char* table : changing_tables()) {
    database
        .prepare(fmt::format("UPDATE {0} SET removed_by = ? WHERE removed_by IS NULL AND id IN "
                             "(SELECT item FROM undone_removals WHERE change = ? AND part = '{0}')",
                             table),
                 change, change)
        .run();
    database.prepare(fmt::format("UPDATE {} SET removed_by = NULL WHERE removed_by = ?", table), -change).run();
  }
  database.prepare("DELETE FROM undone_removals WHERE change = ?", change).run();
  move_entry(database, change, "undone", "changes");
}

/// One of the two directions, undo and redo.
struct Turn {
  const char* word;
  std::vector<ChangeEntry> (*list)(const Database&, int64_t most);
  void (*turn)(const Database&, int64_t change);
};

ChangeEntry turn_first(const Database& database, const Turn& way, std::optional<int64_t> only) {
  return reading(database.path(), [&] {
    Transaction transaction(database, Access::kWrite);
    const std::vector<ChangeEntry> first = way.list(database, 1);
    if (first.empty()) fail("{}: there is nothing to {}", database.path().string(), way.word);
    if (only && first.front().id != *only)
      fail("{}: change {} is not the next one to {}", database.path().string(), *only, way.word);
    way.turn(database, first.front().id);
    transaction.commit();
    return first.front();
  });
}

}  // namespace

std::vector<ChangeEntry> RecognizerFile::changes(int64_t most) const {
  return reading(path(), [&] { return last_done(*database_, most); });
}

std::vector<ChangeEntry> RecognizerFile::undone(int64_t most) const {
  return reading(path(), [&] {
    const ReadView view(*database_);
    return next_undone(*database_, most);
  });
}

ChangeEntry RecognizerFile::undo(std::optional<int64_t> only) {
  return turn_first(*database_, {"undo", last_done, take_back}, only);
}

ChangeEntry RecognizerFile::redo(std::optional<int64_t> only) {
  return turn_first(*database_, {"redo", next_undone, do_again}, only);
}

}  // namespace protocom
