#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocom/recognizer_options.h"
#include "store/database_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace protocom {

class Statement;

/// An open SQLite file. Every error of SQLite is thrown as a DatabaseError of one sentence that names the file. Not
/// thread-safe.
class Database {
 public:
  /// Opens an existing file; a write-protected one can only be read. Its content is not trusted: sizes above the file's
  /// own are refused, and its schema cannot run anything. `patience`: how long to wait for other processes. Throws
  /// Error if there is none, DatabaseError for files beside it that SQLite would follow to other files, and, for
  /// reading, if an interrupted change must be rolled back first.
  static Database open(const std::filesystem::path& path, FileUse use,
                       std::chrono::seconds patience = std::chrono::seconds(60));
  /// Creates an empty file, replacing whatever is there.
  static Database create(const std::filesystem::path& path);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Runs statements without parameters and results, separated by ";".
  void run(const std::string& sql) const;
  /// Prepares a statement with these numbers and texts as its first parameters, the others unset.
  template <typename... Values>
  [[nodiscard]] Statement prepare(const std::string& sql, const Values&... values) const;
  /// Returns the first number of a statement's first row; nothing without a row.
  [[nodiscard]] std::optional<int64_t> number(const std::string& sql) const;
  /// The id of the row added last.
  [[nodiscard]] int64_t last_row() const;
  /// Number of rows that the last statement added, changed or removed.
  [[nodiscard]] int64_t rows_changed() const;

  /// Write and read a blob of a row piece by piece, so that it is never in memory twice.
  void write_blob(const char* table, const char* column, int64_t row, const std::filesystem::path& from) const;
  void read_blob(const char* table, const char* column, int64_t row,
                 const std::function<void(std::string_view piece)>& take) const;

  /// Returns the whole file, as of the last change, as bytes.
  [[nodiscard]] std::string serialized() const;

  /// Whether changes go to a second file (a write-ahead log), which other programs can enable: a recognizer is one
  /// file.
  [[nodiscard]] bool keeps_log_beside() const;
  /// Merges the write-ahead log into the file and removes it. Does nothing while another program has the file open.
  void bring_log_in() const;

  /// Throws the DatabaseError for a code of SQLite.
  [[noreturn]] void refuse(int code) const;

 private:
  Database(std::filesystem::path path, int flags, std::chrono::seconds patience);

  std::filesystem::path path_;
  std::chrono::seconds patience_;
  sqlite3* handle_ = nullptr;
};

/// A prepared statement: parameters are bound from left to right, columns are read by number from 0.
class Statement {
 public:
  /// Takes the handle from Database::prepare.
  Statement(const Database& database, sqlite3* handle, const std::string& sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  Statement& bind(int64_t value);
  Statement& bind(const std::string& text);
  /// Binds null for an empty value.
  Statement& bind(const std::optional<double>& value);
  Statement& bind_blob(std::string_view bytes);
  /// Binds a blob of this many zeros, to be written by Database::write_blob.
  Statement& bind_zeros(int64_t size);
  Statement& bind_null();

  /// Advances to the next row; returns false if there is none.
  bool step();
  /// Runs a statement without rows to its end and resets it.
  void run();
  /// Makes the statement ready for other parameters.
  void reset();
  /// Returns the first column of the only row. Throws Error if there is none: the file is damaged.
  int64_t only_number();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] int64_t number(int column) const;
  /// Empty if it is not a number.
  [[nodiscard]] std::optional<double> real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// Valid until the next step.
  [[nodiscard]] std::string_view blob(int column) const;

 private:
  const Database* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

template <typename... Values>
Statement Database::prepare(const std::string& sql, const Values&... values) const {
  Statement statement(*this, handle_, sql);
  (statement.bind(values), ...);
  return statement;
}

/// The access of a transaction: while one writes, others that want to write wait for its end.
enum class Access { kRead, kWrite };

/// A consistent view of the file; what it wrote is discarded unless it is committed.
class Transaction {
 public:
  Transaction(const Database& database, Access access);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
  bool open_ = true;
};

/// A consistent view of the file for reading, which may be nested in another one.
class ReadView {
 public:
  explicit ReadView(const Database& database) : database_(database) { database_.run("SAVEPOINT view"); }
  ~ReadView() {
    try {
      database_.run("RELEASE view");
    } catch (const Error&) {  // nothing was written
    }
  }
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

 private:
  const Database& database_;
};

}  // namespace protocom
