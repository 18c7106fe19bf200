#include "base/error.h"
#include "store/calibration_json.h"
#include "store/detail/class_rules.h"
#include "store/detail/database.h"
#include "store/detail/schema.h"
#include "store/recognizer_file.h"

namespace protocom {
namespace {

constexpr FileRule kRules[] = {
    // The file's own index distinguishes a text from a blob of the same bytes.
    {"SELECT count(*) FROM (SELECT 1 FROM names WHERE removed_by IS NULL GROUP BY CAST(name AS BLOB) HAVING count(*) > "
     "1)",
     "duplicate names of classes"},
    {"SELECT count(*) FROM names WHERE removed_by IS NULL AND length(CAST(name AS BLOB)) = 0",
     "classes of an empty name"},
    {"SELECT count(*) FROM (SELECT 1 FROM attributes GROUP BY CAST(name AS BLOB) HAVING count(*) > 1)",
     "duplicate names of attributes"},
    {"SELECT count(*) FROM attributes WHERE length(CAST(name AS BLOB)) = 0", "attributes of an empty name"},
    {"SELECT max(count(*) - 1, 0) FROM calibrations WHERE removed_by IS NULL", "calibrations too many"},
    {"SELECT count(*) FROM sqlite_sequence WHERE name = 'changes' AND (typeof(seq) <> 'integer' OR "
     "seq NOT BETWEEN 0 AND 4611686018427387903)",
     "counts of changes out of range"},
    {"SELECT count(*) FROM thumbnails t WHERE t.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM examples e WHERE e.id = t.example AND e.removed_by IS NULL)",
     "thumbnails of missing examples"},
    {"SELECT count(*) FROM confirmations c WHERE c.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM examples e WHERE e.id = c.example AND e.removed_by IS NULL)",
     "confirmations of missing examples"},
};

/// Rules violated by no undo or redo, for a file that has had one.
constexpr FileRule kRulesOfUndone[] = {
    {"SELECT count(*) FROM undone WHERE id <= (SELECT coalesce(max(id), 0) FROM changes)",
     "changes that were undone before others that were not"},
    {"SELECT count(*) FROM undone_removals WHERE change NOT IN (SELECT id FROM undone)",
     "removals of changes that were not undone"},
};

/// Checks what classifying needs besides classes.
void check_needed_parts(const RecognizerFile& file, std::vector<std::string>& findings) {
  if (file.artefact("backbone") == nullptr)
    findings.push_back(fmt::format("{}: it has no backbone", file.path().string()));
  if (file.artefact("model") == nullptr && file.artefact("fitted") == nullptr)
    findings.push_back(fmt::format("{}: it has neither a fitted method nor a completion model", file.path().string()));
}

template <typename Look>
void note(std::vector<std::string>& findings, const Look& look) {
  try {
    look();
  } catch (const Error& error) {
    findings.emplace_back(error.what());
  }
}

void check_pages(const Database& database, std::vector<std::string>& findings) {
  Statement rows = database.prepare("PRAGMA integrity_check(10)");
  while (rows.step()) {
    if (const std::string stated = rows.text(0); stated != "ok")
      findings.push_back(fmt::format("{}: the file is damaged: {}", database.path().string(), one_line(stated)));
  }
}

void check_rule(const Database& database, const std::string& query, const std::string& finding,
                std::vector<std::string>& findings) {
  const int64_t count = database.number(query).value_or(0);
  if (count > 0) findings.push_back(fmt::format("{}: {} {}", database.path().string(), count, finding));
}

/// Finds rows of a table that redo would restore or remove although no undone change did.
void check_undone_rows(const Database& database, const std::string& table, std::vector<std::string>& findings) {
  check_rule(
      database,
      fmt::format("SELECT count(*) FROM {} WHERE removed_by < 0 AND -removed_by NOT IN (SELECT id FROM undone)", table),
      table + " of changes that were not undone", findings);
  check_rule(database,
             fmt::format("SELECT count(*) FROM undone_removals WHERE part = '{0}' AND item NOT IN (SELECT id FROM {0})",
                         table),
             table + " that a redo would remove are missing", findings);
}

void check_rules(const Database& database, std::vector<std::string>& findings) {
  for (const FileRule& rule : kClassRules) check_rule(database, rule.query, rule.finding, findings);
  for (const FileRule& rule : kRules) check_rule(database, rule.query, rule.finding, findings);
  for (const char* table : changing_tables()) check_undone_rows(database, table, findings);
  for (const FileRule& rule : kRulesOfUndone) check_rule(database, rule.query, rule.finding, findings);
  check_rule(database,
             fmt::format("SELECT count(*) FROM undone_removals WHERE part NOT IN ('{}')",
                         fmt::join(changing_tables(), "', '")),
             "removals from tables that are unknown", findings);
}

}  // namespace

void check_classes_are_whole(const Database& database) {
  for (const FileRule& rule : kClassRules) {
    if (const int64_t count = database.number(rule.query).value_or(0); count > 0)
      throw DatabaseError(DatabaseFault::kDamaged,
                          fmt::format("{}: the file is damaged: {} {} (protocom recognizer check)",
                                      database.path().string(), count, rule.finding));
  }
}

std::vector<std::string> RecognizerFile::check() const {
  std::vector<std::string> findings;
  note(findings, [&] { check_pages(*database_, findings); });
  note(findings, [&] { check_rules(*database_, findings); });
  check_needed_parts(*this, findings);
  note(findings, [&] { static_cast<void>(snapshot()); });
  note(findings, [&] {
    if (const auto read = calibration()) static_cast<void>(calibration_from(*read, path().string()));
  });
  for (const RecognizerArtefact& artefact : artefacts_)
    note(findings, [&] { read_artefact(artefact.name, [](const std::filesystem::path&) {}); });
  return findings;
}

}  // namespace protocom
