#include <fmt/format.h>

#include "protocom/core/error.h"
#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"
#include "serve/read_view.h"
#include "serve/recognizer_schema.h"
#include "serve/undone_changes.h"

namespace protocom {
namespace {

/// Changes that were undone and can be done again: those after the last that was not.
constexpr const char* kUndone =
    "SELECT id, what, time FROM undone WHERE id > (SELECT coalesce(max(id), 0) FROM changes) ORDER BY id LIMIT ?";

std::optional<ChangeEntry> next_undone(const Database& database) {
  if (!has_undone(database)) return std::nullopt;
  Statement row = database.prepare(kUndone);
  if (!row.bind(1).step()) return std::nullopt;
  return ChangeEntry{row.number(0), row.text(1), row.number(2)};
}

/// Moves a change's entry from one list to the other.
void move_entry(const Database& database, int64_t change, const char* from, const char* to) {
  database.prepare(fmt::format("INSERT INTO {}(id, time, what) SELECT id, time, what FROM {} WHERE id = ?", to, from))
      .bind(change)
      .run();
  database.prepare(fmt::format("DELETE FROM {} WHERE id = ?", from)).bind(change).run();
}

/// What a change added no longer counts: its rows stay, removed by the negative of its number. What it removed counts
/// again; which that was is noted. A row that it both added and removed stays as it is.
void take_back(const Database& database, int64_t change) {
  // No change of ours has such a number; the negative of the least is none.
  if (change < 1) fail("{}: the file is damaged: it has a change of the number {}", database.path().string(), change);
  if (!has_undone(database)) add_undone(database);
  for (const char* table : changing_tables(database)) {
    database
        .prepare(fmt::format("INSERT INTO undone_removals(change, part, item) SELECT ?, '{0}', id FROM {0} "
                             "WHERE removed_by = ? AND added_by <> ?",
                             table))
        .bind(change)
        .bind(change)
        .bind(change)
        .run();
    database.prepare(fmt::format("UPDATE {} SET removed_by = ? WHERE added_by = ? AND removed_by IS NULL", table))
        .bind(-change)
        .bind(change)
        .run();
    database.prepare(fmt::format("UPDATE {} SET removed_by = NULL WHERE removed_by = ? AND added_by <> ?", table))
        .bind(change)
        .bind(change)
        .run();
  }
  move_entry(database, change, "changes", "undone");
}

/// The inverse. Only names of tables that are known are looked for in what the file says.
void do_again(const Database& database, int64_t change) {
  for (const char* table : changing_tables(database)) {
    database
        .prepare(fmt::format("UPDATE {0} SET removed_by = ? WHERE removed_by IS NULL AND id IN "
                             "(SELECT item FROM undone_removals WHERE change = ? AND part = '{0}')",
                             table))
        .bind(change)
        .bind(change)
        .run();
    database.prepare(fmt::format("UPDATE {} SET removed_by = NULL WHERE removed_by = ?", table)).bind(-change).run();
  }
  database.prepare("DELETE FROM undone_removals WHERE change = ?").bind(change).run();
  move_entry(database, change, "undone", "changes");
}

}  // namespace

void forget_undone(const Database& database) {
  if (!has_undone(database)) return;
  for (const char* table : changing_tables(database)) {
    database.run(fmt::format("DELETE FROM {} WHERE added_by IN (SELECT id FROM undone)", table));
    database.run(fmt::format("DELETE FROM {} WHERE removed_by < 0", table));
  }
  database.run("DELETE FROM undone; DELETE FROM undone_removals");
}

std::vector<ChangeEntry> RecognizerFile::undone(int64_t most) const {
  return reading(path(), [&] {
    const ReadView view(*database_);
    std::vector<ChangeEntry> entries;
    if (!has_undone(*database_)) return entries;
    Statement rows = database_->prepare(kUndone);
    rows.bind(most);
    while (rows.step()) entries.push_back({rows.number(0), rows.text(1), rows.number(2)});
    return entries;
  });
}

ChangeEntry RecognizerFile::undo() {
  return reading(path(), [&] {
    Transaction transaction(*database_, Access::kWrite);
    const std::vector<ChangeEntry> last = changes(1);
    if (last.empty()) fail("{}: there is nothing to undo", path().string());
    take_back(*database_, last.front().id);
    transaction.commit();
    return last.front();
  });
}

std::optional<ChangeEntry> RecognizerFile::undo_only(int64_t change) {
  return reading(path(), [&]() -> std::optional<ChangeEntry> {
    Transaction transaction(*database_, Access::kWrite);
    const std::vector<ChangeEntry> last = changes(1);
    if (last.empty() || last.front().id != change) return std::nullopt;
    take_back(*database_, change);
    transaction.commit();
    return last.front();
  });
}

ChangeEntry RecognizerFile::redo() {
  return reading(path(), [&] {
    Transaction transaction(*database_, Access::kWrite);
    const std::optional<ChangeEntry> next = next_undone(*database_);
    if (!next) fail("{}: there is nothing to redo", path().string());
    do_again(*database_, next->id);
    transaction.commit();
    return *next;
  });
}

std::optional<ChangeEntry> RecognizerFile::redo_only(int64_t change) {
  return reading(path(), [&]() -> std::optional<ChangeEntry> {
    Transaction transaction(*database_, Access::kWrite);
    const std::optional<ChangeEntry> next = next_undone(*database_);
    if (!next || next->id != change) return std::nullopt;
    do_again(*database_, change);
    transaction.commit();
    return next;
  });
}

}  // namespace protocom
