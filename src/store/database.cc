#include "store/detail/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "io/files.h"
#include "io/unfinished.h"
#include "store/detail/sqlite_files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kPiece = int64_t{4} << 20;
constexpr int kMostOfSqlite = 1'000'000'000;
constexpr int64_t kSmallestLimit = int64_t{16} << 20;

/// Returns the limit of a value's length: no value is longer than its file, whatever a damaged page states, so that
/// reading one never takes more memory than that.
int longest_value(const fs::path& path, int most) {
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(path, error));
  return error ? most : static_cast<int>(std::min<int64_t>(most, std::max(size, kSmallestLimit)));
}

/// Whether the disk is full: so is a quota or a limit on a file's size, which SQLite reports as an I/O error.
bool is_full(int code, sqlite3* handle) {
  if ((code & 0xff) == SQLITE_FULL) return true;
  if ((code & 0xff) != SQLITE_IOERR || handle == nullptr) return false;
  int reason = 0;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &reason);
  return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

DatabaseFault fault_of_code(int code, sqlite3* handle) {
  if (is_full(code, handle)) return DatabaseFault::kFull;
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return DatabaseFault::kDamaged;
    case SQLITE_BUSY:
      return DatabaseFault::kBusy;
    default:
      return DatabaseFault::kOther;
  }
}

std::string reason_of_code(int code, sqlite3* handle, const fs::path& path, std::chrono::seconds patience) {
  if (is_full(code, handle))
    return "the disk is full; nothing was changed; removing, undo and compact need some space too: free some "
           "megabytes, or copy the file to another disk and change it there";
  if (code == SQLITE_READONLY_ROLLBACK)
    return fmt::format(
        "a change of it was interrupted; `protocom recognizer recover {0}` rolls it back, as does any command that "
        "changes the recognizer ({0}-journal has what the change overwrote)",
        path.string());
  if ((code & 0xff) == SQLITE_CANTOPEN) {
    if (const auto found = planted_companion(path)) return *found;
  }
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "it is not a recognizer";
    case SQLITE_CORRUPT:
      return "the file is damaged";
    case SQLITE_BUSY:
      return fmt::format("another process has locked it for {} s; nothing was changed", patience.count());
    case SQLITE_READONLY:
      return "it cannot be written";
    case SQLITE_TOOBIG:
      return "it holds, or would hold, a value that is too large";
    default:
      return handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  }
}

/// An open blob of a row.
class Blob {
 public:
  Blob(const Database& database, sqlite3* handle, const char* table, const char* column, int64_t row, int writes) {
    const int code = sqlite3_blob_open(handle, "main", table, column, row, writes, &blob_);
    if (code == SQLITE_OK) return;
    sqlite3_blob_close(blob_);
    database.refuse(code);
  }
  ~Blob() { sqlite3_blob_close(blob_); }
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;
  [[nodiscard]] sqlite3_blob* get() const { return blob_; }

 private:
  sqlite3_blob* blob_ = nullptr;
};

}  // namespace

Database::Database(fs::path path, int flags, std::chrono::seconds patience)
    : path_(std::move(path)), patience_(patience) {
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags | SQLITE_OPEN_EXRESCODE, guarded_file_layer());
  if (code != SQLITE_OK) {
    const DatabaseFault fault = fault_of_code(code, handle_);
    const std::string reason = reason_of_code(code, handle_, path_, patience_);
    sqlite3_close_v2(std::exchange(handle_, nullptr));
    throw DatabaseError(fault, fmt::format("{}: {}", meant_by(path_).string(), reason));
  }
  sqlite3_busy_timeout(handle_, static_cast<int>(std::chrono::milliseconds(patience_).count()));
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

Database Database::open(const fs::path& path, FileUse use, std::chrono::seconds patience) {
  std::error_code error;
  if (!fs::exists(path, error)) fail("{}: no such file", path.string());
  if (!fs::is_regular_file(path, error)) fail("{} is not a file", path.string());
  if (const auto found = planted_companion(path))
    throw DatabaseError(DatabaseFault::kOther, fmt::format("{}: {}", path.string(), *found));
  Database database(path, use == FileUse::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, patience);
  const int most = sqlite3_limit(database.handle_, SQLITE_LIMIT_LENGTH, longest_value(path, kMostOfSqlite));
  // Removed images are erased from the file; there is one file at rest; acknowledged changes survive a power cut.
  database.run("PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON; PRAGMA synchronous=FULL");
  if (use == FileUse::kRead || !uses_write_ahead_log(path)) return database;
  database.bring_log_in();
  sqlite3_limit(database.handle_, SQLITE_LIMIT_LENGTH, longest_value(path, most));
  return database;
}

Database Database::create(const fs::path& path) {
  return {path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, std::chrono::seconds(0)};
}

Database::~Database() { sqlite3_close_v2(handle_); }

Database::Database(Database&& other) noexcept
    : path_(std::move(other.path_)), patience_(other.patience_), handle_(std::exchange(other.handle_, nullptr)) {}

void Database::refuse(int code) const {
  throw DatabaseError(fault_of_code(code, handle_),
                      fmt::format("{}: {}", meant_by(path_).string(), reason_of_code(code, handle_, path_, patience_)));
}

void Database::run(const std::string& sql) const {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) refuse(code);
}

bool Database::keeps_log_beside() const {
  Statement mode = prepare("PRAGMA journal_mode");
  return mode.step() && mode.text(0) == "wal";
}

void Database::bring_log_in() const {
  // Fails while another program has the file open, or if it cannot be written; the next writer tries again.
  sqlite3_busy_timeout(handle_, 0);
  sqlite3_exec(handle_, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(handle_, static_cast<int>(std::chrono::milliseconds(patience_).count()));
}

std::optional<int64_t> Database::number(const std::string& sql) const {
  Statement statement = prepare(sql);
  if (!statement.step() || statement.is_null(0)) return std::nullopt;
  return statement.number(0);
}

std::string Database::serialized() const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(sqlite3_serialize(handle_, "main", &size, 0),
                                                                      &sqlite3_free);
  if (!bytes) refuse(sqlite3_errcode(handle_) == SQLITE_OK ? SQLITE_NOMEM : sqlite3_errcode(handle_));
  return {reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size)};
}

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }

int64_t Database::rows_changed() const { return sqlite3_changes64(handle_); }

void Database::write_blob(const char* table, const char* column, int64_t row, const fs::path& from) const {
  const MappedFile file(from);
  const Blob blob(*this, handle_, table, column, row, 1);
  const std::string_view bytes = file.bytes();
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::string_view piece = bytes.substr(at, kPiece);
    const int code = sqlite3_blob_write(blob.get(), piece.data(), static_cast<int>(piece.size()), static_cast<int>(at));
    if (code != SQLITE_OK) refuse(code);
  }
}

void Database::read_blob(const char* table, const char* column, int64_t row,
                         const std::function<void(std::string_view)>& take) const {
  const Blob blob(*this, handle_, table, column, row, 0);
  const int64_t size = sqlite3_blob_bytes(blob.get());
  std::string piece;
  for (int64_t at = 0; at < size; at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, size - at)));
    const int code = sqlite3_blob_read(blob.get(), piece.data(), static_cast<int>(piece.size()), static_cast<int>(at));
    if (code != SQLITE_OK) refuse(code);
    take(piece);
  }
}

Statement::Statement(const Database& database, sqlite3* handle, const std::string& sql) : database_(&database) {
  const int code = sqlite3_prepare_v2(handle, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (code != SQLITE_OK) database.refuse(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)), bound_(other.bound_) {}

Statement& Statement::bind(int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(const std::string& text) {
  sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind(const std::optional<double>& value) {
  if (!value) return bind_null();
  sqlite3_bind_double(statement_, ++bound_, *value);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  // A null pointer would be NULL instead of a blob of no bytes.
  sqlite3_bind_blob(statement_, ++bound_, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_zeros(int64_t size) {
  const int code = sqlite3_bind_zeroblob64(statement_, ++bound_, static_cast<sqlite3_uint64>(size));
  if (code != SQLITE_OK) database_->refuse(code);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->refuse(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
}

int64_t Statement::only_number() {
  if (!step())
    throw DatabaseError(DatabaseFault::kDamaged,
                        fmt::format("{}: the file is damaged: a row is missing", database_->path().string()));
  return number(0);
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<double> Statement::real(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return std::nullopt;
  const double value = sqlite3_column_double(statement_, column);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string Statement::text(int column) const { return std::string(blob(column)); }

std::string_view Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), size);
}

Transaction::Transaction(const Database& database, Access access) : database_(database) {
  database_.run(access == Access::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
  if (access == Access::kRead || !database_.keeps_log_beside()) return;
  database_.run("ROLLBACK");
  database_.bring_log_in();
  database_.run("BEGIN IMMEDIATE");
  if (!database_.keeps_log_beside()) return;
  database_.run("ROLLBACK");
  throw DatabaseError(DatabaseFault::kBusy,
                      fmt::format("{0}: another program keeps its changes in {0}-wal; close every program that has it "
                                  "open and run the command again; nothing was changed",
                                  database_.path().string()));
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const Error&) {  // SQLite has already rolled back
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace protocom
