#include "store/detail/schema.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>

#include "base/error.h"

namespace protocom {
namespace {

constexpr int64_t kApplication = 0x50434D52;  // "PCMR"
constexpr int64_t kVersion = 2;
constexpr int64_t kVersionWithUndone = 3;      // of a file in which a change was undone
constexpr int64_t kVersionWithUnlabelled = 4;  // of one that has had unlabelled images
constexpr const char* kUnlabelledTable = "unlabelled";

/// In every file.
constexpr std::array<const char*, 6> kChangingTables = {"classes",  "names",      "descriptions",
                                                        "examples", "thumbnails", "calibrations"};

/// Of a table of changing_tables().
std::string changing(const std::string& columns) {
  return "(id INTEGER PRIMARY KEY, " + columns + ", added_by INTEGER NOT NULL, removed_by INTEGER)";
}

/// Adds the indexes by which the rows of a change are found.
void index_changes_of(const std::string& table, std::map<std::string, std::string>& parts) {
  parts[table + "_added"] = fmt::format("CREATE INDEX {0}_added ON {0}(added_by)", table);
  parts[table + "_removed"] =
      fmt::format("CREATE INDEX {0}_removed ON {0}(removed_by) WHERE removed_by IS NOT NULL", table);
}

/// Name of each table and index -> what makes it.
const std::map<std::string, std::string>& parts() {
  static const std::map<std::string, std::string> kParts = [] {
    std::map<std::string, std::string> all = {
        {"header", "CREATE TABLE header(json TEXT NOT NULL)"},
        {"artefacts",
         "CREATE TABLE artefacts(id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, path TEXT NOT NULL, "
         "bytes BLOB)"},
        {"attributes", "CREATE TABLE attributes(id INTEGER PRIMARY KEY, name TEXT NOT NULL)"},
        {"changes",
         "CREATE TABLE changes(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, what TEXT NOT NULL)"},
        {"classes", "CREATE TABLE classes" + changing("time INTEGER NOT NULL")},
        {"names", "CREATE TABLE names" + changing("class INTEGER NOT NULL, name TEXT NOT NULL")},
        {"descriptions", "CREATE TABLE descriptions" +
                             changing("class INTEGER NOT NULL, title TEXT NOT NULL, association BLOB NOT NULL, "
                                      "embedding BLOB NOT NULL, source TEXT NOT NULL")},
        {"examples",
         "CREATE TABLE examples" +
             changing("class INTEGER NOT NULL, hash BLOB NOT NULL, feature BLOB NOT NULL, time INTEGER NOT NULL, "
                      "source TEXT NOT NULL")},
        {"thumbnails", "CREATE TABLE thumbnails" + changing("example INTEGER NOT NULL, jpeg BLOB NOT NULL")},
        {"calibrations", "CREATE TABLE calibrations" + changing("json TEXT NOT NULL")},
        {"live_names", "CREATE UNIQUE INDEX live_names ON names(name) WHERE removed_by IS NULL"},
        {"live_examples", "CREATE UNIQUE INDEX live_examples ON examples(class, hash) WHERE removed_by IS NULL"},
        {"live_thumbnails", "CREATE UNIQUE INDEX live_thumbnails ON thumbnails(example) WHERE removed_by IS NULL"},
        {"live_descriptions", "CREATE UNIQUE INDEX live_descriptions ON descriptions(class) WHERE removed_by IS NULL"},
        {"live_names_of", "CREATE UNIQUE INDEX live_names_of ON names(class) WHERE removed_by IS NULL"}};
    for (const char* table : kChangingTables) index_changes_of(table, all);
    return all;
  }();
  return kParts;
}

/// The same of what a file has from the first undo on.
const std::map<std::string, std::string>& undone_parts() {
  static const std::map<std::string, std::string> kParts = {
      {"undone", "CREATE TABLE undone(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, what TEXT NOT NULL)"},
      {"undone_removals",
       "CREATE TABLE undone_removals(change INTEGER NOT NULL, part TEXT NOT NULL, item INTEGER NOT NULL)"}};
  return kParts;
}

/// The same of what a file has from the first unlabelled image on.
const std::map<std::string, std::string>& unlabelled_parts() {
  static const std::map<std::string, std::string> kParts = [] {
    std::map<std::string, std::string> all = {
        {kUnlabelledTable,
         "CREATE TABLE unlabelled" + changing("hash BLOB NOT NULL, feature BLOB NOT NULL, time INTEGER NOT "
                                              "NULL, source TEXT NOT NULL, jpeg BLOB NOT NULL")},
        {"live_unlabelled", "CREATE UNIQUE INDEX live_unlabelled ON unlabelled(hash) WHERE removed_by IS NULL"}};
    index_changes_of(kUnlabelledTable, all);
    return all;
  }();
  return kParts;
}

/// Tables before their indexes.
void make_parts(const std::map<std::string, std::string>& parts, const Database& database) {
  for (const bool tables : {true, false}) {
    for (const auto& [name, sql] : parts) {
      if ((sql.rfind("CREATE TABLE", 0) == 0) == tables) database.run(sql);
    }
  }
}

bool has_table(const Database& database, const char* name) {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?", name).step();
}

/// A file never goes back to an older version.
void set_version(const Database& database, int64_t version) {
  if (format_of(database) < version) database.run(fmt::format("PRAGMA user_version={}", version));
}

bool is_one_of(const std::map<std::string, std::string>& parts, const std::string& name, const std::string& sql) {
  const auto part = parts.find(name);
  return part != parts.end() && part->second == sql;
}

bool is_of_sqlite(const std::string& name, const std::string& sql) {
  return sql.empty() || (name == "sqlite_sequence" && sql == "CREATE TABLE sqlite_sequence(name,seq)");
}

void check_identity(const Database& database) {
  const std::string where = database.path().string();
  if (database.number("PRAGMA application_id").value_or(0) != kApplication) {
    fail("{} is not a recognizer: expected a file of `protocom recognizer create`", where);
  }
  const int64_t version = format_of(database);
  if (version == 1)
    fail(
        "{} is a recognizer of format 1: run `recognizer export` of the protocom that wrote it, then `recognizer "
        "import` of this one",
        where);
  if (version < kVersion || version > kVersionWithUnlabelled)
    fail("{} is a recognizer of format {}, this protocom reads up to {}: use a newer protocom", where, version,
         kVersionWithUnlabelled);
}

}  // namespace

std::vector<const char*> changing_tables(const Database& database) {
  std::vector<const char*> tables(kChangingTables.begin(), kChangingTables.end());
  if (has_unlabelled(database)) tables.push_back(kUnlabelledTable);
  return tables;
}

void create_schema(const Database& database) {
  make_parts(parts(), database);
  database.run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kVersion));
}

bool has_undone(const Database& database) { return has_table(database, "undone"); }

void add_undone(const Database& database) {
  make_parts(undone_parts(), database);
  set_version(database, kVersionWithUndone);
}

void forget_undone(const Database& database) {
  if (!has_undone(database)) return;
  for (const char* table : changing_tables(database)) {
    database.run(fmt::format("DELETE FROM {} WHERE added_by IN (SELECT id FROM undone)", table));
    database.run(fmt::format("DELETE FROM {} WHERE removed_by < 0", table));
  }
  database.run("DELETE FROM undone; DELETE FROM undone_removals");
}

int64_t format_of(const Database& database) { return database.number("PRAGMA user_version").value_or(0); }

bool has_unlabelled(const Database& database) { return has_table(database, kUnlabelledTable); }

void add_unlabelled_table(const Database& database) {
  make_parts(unlabelled_parts(), database);
  set_version(database, kVersionWithUnlabelled);
}

void check_schema(const Database& database) {
  check_identity(database);
  size_t found = 0, found_undone = 0, found_unlabelled = 0;
  Statement entries = database.prepare("SELECT name, sql FROM sqlite_schema");
  while (entries.step()) {
    const std::string name = entries.text(0);
    const std::string sql = entries.text(1);
    if (is_one_of(parts(), name, sql))
      ++found;
    else if (is_one_of(undone_parts(), name, sql))
      ++found_undone;
    else if (is_one_of(unlabelled_parts(), name, sql))
      ++found_unlabelled;
    else if (!is_of_sqlite(name, sql))
      fail("{}: the file is damaged, or another program has changed it: unexpected '{}'", database.path().string(),
           excerpt(name));
  }
  const size_t expected = parts().size() + (found_undone > 0 ? undone_parts().size() : 0) +
                          (found_unlabelled > 0 ? unlabelled_parts().size() : 0);
  const size_t all = found + found_undone + found_unlabelled;
  if (all != expected)
    fail("{}: the file is damaged: {} of its {} tables and indexes are missing", database.path().string(),
         expected - all, expected);
}

}  // namespace protocom
