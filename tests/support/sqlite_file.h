#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace protocom::testing {

/// A recognizer as seen by any other program: a SQLite file, which it may change at will.
class SqliteFile {
 public:
  /// Creates the file if there is none.
  explicit SqliteFile(const std::filesystem::path& path) {
    check(sqlite3_open(path.c_str(), &database_));
    check(sqlite3_busy_timeout(database_, 60'000));
  }
  ~SqliteFile() { sqlite3_close(database_); }
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  /// Runs statements separated by ";".
  void run(const std::string& sql) const { check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr)); }

  /// Returns the first number of a statement's first row.
  [[nodiscard]] int64_t number(const std::string& sql) const {
    int64_t value = 0;
    const auto take = [](void* to, int, char** cells, char**) {
      *static_cast<int64_t*>(to) = std::stoll(cells[0]);
      return 0;
    };
    check(sqlite3_exec(database_, sql.c_str(), take, &value, nullptr));
    return value;
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  }

  sqlite3* database_ = nullptr;
};

/// Returns 'text' quoted for SQL.
inline std::string quoted(std::string text) {
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 2)) text.insert(at, 1, '\'');
  return "'" + text + "'";
}

}  // namespace protocom::testing
