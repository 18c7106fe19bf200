#include "serve/changed_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace protocom {
namespace {

/// Whether the file has come from what it was at a revision by changes that it still knows.
bool follows(const Database& database, int64_t revision, int64_t now) {
  if (revision > 0) return database.prepare("SELECT 1 FROM changes WHERE id = ?").bind(revision).step();
  // There was no change that could be undone. None is forgotten where the first is the next that could be made then.
  return revision == now || database.number("SELECT min(id) FROM changes") == 1 - revision;
}

void note(int64_t id, Reread what, Changed& in) {
  Reread& noted = in.emplace(id, what).first->second;
  noted = std::max(noted, what);
}

/// Rows of a table that tell of a change.
struct Trace {
  const char* table;
  const char* column;  // the class's id
  const char* when;
  Reread says;
};

constexpr Trace kTraces[] = {
    {"classes", "id", "added_by", Reread::kAll},
    {"classes", "id", "removed_by", Reread::kAll},
    {"names", "class", "added_by", Reread::kDescription},
    {"names", "class", "removed_by", Reread::kDescription},
    {"descriptions", "class", "added_by", Reread::kDescription},
    {"descriptions", "class", "removed_by", Reread::kDescription},
    {"examples", "class", "added_by", Reread::kNewExamples},
    {"examples", "class", "removed_by", Reread::kAll},
};

}  // namespace

std::optional<Changed> changed_since(const Database& database, int64_t now, std::vector<SnapshotStep>& steps) {
  Changed changed;
  for (; !steps.empty() && !follows(database, steps.back().revision, now); steps.pop_back()) {
    for (const int64_t id : steps.back().classes) note(id, Reread::kAll, changed);
  }
  if (steps.empty()) return std::nullopt;
  for (const Trace& trace : kTraces) {
    Statement rows =
        database.prepare(fmt::format("SELECT DISTINCT {} FROM {} WHERE {} > ?", trace.column, trace.table, trace.when));
    rows.bind(std::abs(steps.back().revision));
    while (rows.step()) note(rows.number(0), trace.says, changed);
  }
  return changed;
}

}  // namespace protocom
