#include "store/detail/schema.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>

#include "base/error.h"

namespace protocom {
namespace {

constexpr int64_t kApplication = 0x50434D52;  // "PCMR"
constexpr int64_t kVersion = 1;
constexpr std::array<const char*, 8> kChangingTables = {"classes",    "names",         "descriptions", "examples",
                                                        "thumbnails", "confirmations", "calibrations", "unlabelled"};

/// Returns the definition of a table of changing_tables().
std::string changing(const std::string& columns) {
  return "(id INTEGER PRIMARY KEY, " + columns + ", added_by INTEGER NOT NULL, removed_by INTEGER)";
}

/// Adds the indexes for finding the rows of a change.
void index_changes_of(const std::string& table, std::map<std::string, std::string>& parts) {
  parts[table + "_added"] = fmt::format("CREATE INDEX {0}_added ON {0}(added_by)", table);
  parts[table + "_removed"] =
      fmt::format("CREATE INDEX {0}_removed ON {0}(removed_by) WHERE removed_by IS NOT NULL", table);
}

/// Returns the SQL that creates each table and index, by name.
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
                      "source TEXT NOT NULL, taken REAL")},
        {"thumbnails", "CREATE TABLE thumbnails" + changing("example INTEGER NOT NULL, jpeg BLOB NOT NULL")},
        {"confirmations", "CREATE TABLE confirmations" + changing("example INTEGER NOT NULL")},
        {"calibrations", "CREATE TABLE calibrations" + changing("json TEXT NOT NULL")},
        {"undone", "CREATE TABLE undone(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, what TEXT NOT NULL)"},
        {"undone_removals",
         "CREATE TABLE undone_removals(change INTEGER NOT NULL, part TEXT NOT NULL, item INTEGER NOT NULL)"},
        {"unlabelled", "CREATE TABLE unlabelled" +
                           changing("hash BLOB NOT NULL, feature BLOB NOT NULL, time INTEGER NOT NULL, source TEXT NOT "
                                    "NULL, jpeg BLOB NOT NULL, taken REAL")},
        {"live_names", "CREATE UNIQUE INDEX live_names ON names(name) WHERE removed_by IS NULL"},
        {"live_examples", "CREATE UNIQUE INDEX live_examples ON examples(class, hash) WHERE removed_by IS NULL"},
        {"live_thumbnails", "CREATE UNIQUE INDEX live_thumbnails ON thumbnails(example) WHERE removed_by IS NULL"},
        {"live_confirmations",
         "CREATE UNIQUE INDEX live_confirmations ON confirmations(example) WHERE removed_by IS NULL"},
        {"live_descriptions", "CREATE UNIQUE INDEX live_descriptions ON descriptions(class) WHERE removed_by IS NULL"},
        {"live_unlabelled", "CREATE UNIQUE INDEX live_unlabelled ON unlabelled(hash) WHERE removed_by IS NULL"},
        {"live_names_of", "CREATE UNIQUE INDEX live_names_of ON names(class) WHERE removed_by IS NULL"}};
    for (const char* table : kChangingTables) index_changes_of(table, all);
    return all;
  }();
  return kParts;
}

bool is_part(const std::string& name, const std::string& sql) {
  const auto part = parts().find(name);
  return part != parts().end() && part->second == sql;
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
  if (version != kVersion)
    fail("{} is a recognizer of format {}, this protocom reads format {}: use the protocom that wrote it", where,
         version, kVersion);
}

}  // namespace

std::vector<const char*> changing_tables() { return {kChangingTables.begin(), kChangingTables.end()}; }

void create_schema(const Database& database) {
  for (const bool tables : {true, false}) {  // before their indexes
    for (const auto& [name, sql] : parts()) {
      if ((sql.rfind("CREATE TABLE", 0) == 0) == tables) database.run(sql);
    }
  }
  database.run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kVersion));
}

void forget_undone(const Database& database) {
  if (!database.number("SELECT id FROM undone LIMIT 1")) return;
  for (const char* table : kChangingTables) {
    database.run(fmt::format("DELETE FROM {} WHERE added_by IN (SELECT id FROM undone)", table));
    database.run(fmt::format("DELETE FROM {} WHERE removed_by < 0", table));
  }
  database.run("DELETE FROM undone; DELETE FROM undone_removals");
}

int64_t format_of(const Database& database) { return database.number("PRAGMA user_version").value_or(0); }

void check_schema(const Database& database) {
  check_identity(database);
  size_t found = 0;
  Statement entries = database.prepare("SELECT name, sql FROM sqlite_schema");
  while (entries.step()) {
    const std::string name = entries.text(0);
    const std::string sql = entries.text(1);
    if (is_part(name, sql))
      ++found;
    else if (!is_of_sqlite(name, sql))
      fail("{}: the file is damaged, or another program has changed it: unexpected '{}'", database.path().string(),
           excerpt(name));
  }
  if (found != parts().size())
    fail("{}: the file is damaged: {} of its {} tables and indexes are missing", database.path().string(),
         parts().size() - found, parts().size());
}

}  // namespace protocom
