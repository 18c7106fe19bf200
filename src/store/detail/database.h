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

/// An SQLite file that is open. Everything that SQLite refuses leaves as a DatabaseError of one sentence that names the
/// file. Not thread-safe.
class Database {
 public:
  /// An existing file; one that is write-protected can be read only. What its bytes say is not trusted: sizes above
  /// the file's own are refused, and its schema can run nothing. What is asked of it waits for other processes for so
  /// long. Throws Error when there is none, DatabaseError for files beside it that SQLite would follow to other files,
  /// and, to read, if an interrupted change must be rolled back first.
  static Database open(const std::filesystem::path& path, FileUse use,
                       std::chrono::seconds patience = std::chrono::seconds(60));
  /// An empty one, in place of whatever is there.
  static Database create(const std::filesystem::path& path);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Statements without parameters and results, separated by ";".
  void run(const std::string& sql) const;
  /// A statement with these numbers and texts as its first parameters, the others unset.
  template <typename... Values>
  [[nodiscard]] Statement prepare(const std::string& sql, const Values&... values) const;
  /// The first number of a statement's first row; none without a row.
  [[nodiscard]] std::optional<int64_t> number(const std::string& sql) const;
  /// The id of the row that was added last.
  [[nodiscard]] int64_t last_row() const;
  /// Rows that the last statement added, changed or removed.
  [[nodiscard]] int64_t rows_changed() const;

  /// A blob of a row is written or read piece by piece, so that it never lies in memory twice.
  void write_blob(const char* table, const char* column, int64_t row, const std::filesystem::path& from) const;
  void read_blob(const char* table, const char* column, int64_t row,
                 const std::function<void(std::string_view piece)>& take) const;

  /// All of it, as of the last change, as the bytes of a file.
  [[nodiscard]] std::string serialized() const;

  /// Whether changes go to a second file (a write-ahead log): a recognizer is one file. Other programs can set that.
  [[nodiscard]] bool keeps_log_beside() const;
  /// Brings what that holds into the file and ends it. Nothing happens while another program has the file open.
  void bring_log_in() const;

  /// Throws the DatabaseError of what SQLite answered.
  [[noreturn]] void refuse(int code) const;

 private:
  Database(std::filesystem::path path, int flags, std::chrono::seconds patience);

  std::filesystem::path path_;
  std::chrono::seconds patience_;
  sqlite3* handle_ = nullptr;
};

/// A prepared statement: parameters are bound from left to right, columns read by number from 0.
class Statement {
 public:
  /// As Database::prepare makes it.
  Statement(const Database& database, sqlite3* handle, const std::string& sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  Statement& bind(int64_t value);
  Statement& bind(const std::string& text);
  /// A null without a value.
  Statement& bind(const std::optional<double>& value);
  Statement& bind_blob(std::string_view bytes);
  /// A blob of this many zeros, to be written by Database::write_blob.
  Statement& bind_zeros(int64_t size);
  Statement& bind_null();

  /// Goes to the next row; false when there is none.
  bool step();
  /// Runs a statement without rows to its end and makes it ready for other parameters.
  void run();
  /// Ready for other parameters.
  void reset();
  /// The first column of the only row. Throws Error when there is none: the file is damaged.
  int64_t only_number();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] int64_t number(int column) const;
  /// Nothing where it is no number.
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

/// What a transaction is for: while one writes, others that would write wait for its end.
enum class Access { kRead, kWrite };

/// One view of the file until it ends; what it wrote is gone unless it is committed.
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

/// One view of the file until it ends, also within another one.
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
