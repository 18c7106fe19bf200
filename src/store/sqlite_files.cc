#include "store/detail/sqlite_files.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cstring>
#include <fstream>

#include "base/log.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// A journal begins with these bytes. One that names a super-journal also ends with them.
constexpr std::array<unsigned char, 8> kMagic = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

bool names_super_journal(sqlite3_file* journal) {
  sqlite3_int64 size = 0;
  std::array<unsigned char, kMagic.size()> tail{};
  if (journal->pMethods->xFileSize(journal, &size) != SQLITE_OK) return true;
  if (size < static_cast<sqlite3_int64>(tail.size())) return false;
  const auto length = static_cast<int>(tail.size());
  return journal->pMethods->xRead(journal, tail.data(), length, size - length) != SQLITE_OK || tail == kMagic;
}

bool names_super_journal(const fs::path& journal) {
  std::ifstream file(journal, std::ios::binary);
  std::array<unsigned char, kMagic.size()> tail{};
  file.seekg(-static_cast<std::streamoff>(tail.size()), std::ios::end);
  return file.read(reinterpret_cast<char*>(tail.data()), tail.size()) && tail == kMagic;
}

sqlite3_vfs* system_layer() { return sqlite3_vfs_find(nullptr); }

int open_guarded(sqlite3_vfs* /*layer*/, const char* name, sqlite3_file* file, int flags, int* opened) {
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) return SQLITE_CANTOPEN;
  if ((flags & SQLITE_OPEN_WAL) != 0 && !says_write_ahead_log(sqlite3_filename_database(name))) return SQLITE_CANTOPEN;
  const int code = system_layer()->xOpen(system_layer(), name, file, flags, opened);
  const bool is_kept_journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && (flags & SQLITE_OPEN_CREATE) == 0;
  if (code != SQLITE_OK || !is_kept_journal) return code;
  if (names_super_journal(file)) {
    file->pMethods->xClose(file);
    file->pMethods = nullptr;
    return SQLITE_CANTOPEN;
  }
  // SQLite looks at a journal by a handle that only reads, and opens it for writing when it plays it back.
  if ((flags & SQLITE_OPEN_READWRITE) != 0)
    logger().warn("{}: rolling back a change that was interrupted", sqlite3_filename_database(name));
  return code;
}

}  // namespace

const char* guarded_file_layer() {
  static sqlite3_vfs layer = [] {
    sqlite3_vfs made = *system_layer();
    made.zName = "protocom";
    made.xOpen = &open_guarded;
    return made;
  }();
  static const int kRegistered = sqlite3_vfs_register(&layer, /*makeDflt=*/0);
  static_cast<void>(kRegistered);
  return layer.zName;
}

bool says_write_ahead_log(const fs::path& database) {
  constexpr size_t kWriteVersion = 18;
  std::array<char, 20> head{};
  std::ifstream file(database, std::ios::binary);
  return file.read(head.data(), head.size()) && head[kWriteVersion] == 2;
}

std::optional<std::string> planted_companion(const fs::path& database) {
  std::error_code error;
  const fs::path real = fs::canonical(database, error);
  if (error) return std::nullopt;
  for (const char* end : {"-journal", "-wal", "-shm"}) {
    const fs::path beside = real.string() + end;
    const fs::file_status status = fs::symlink_status(beside, error);
    if (!fs::exists(status)) continue;
    const char* fault = nullptr;
    const bool is_journal = std::strcmp(end, "-journal") == 0;
    if (!fs::is_regular_file(status))
      fault = "is not a plain file";
    else if (is_journal && names_super_journal(beside))
      fault = "names another file, which SQLite would delete";
    else if (!is_journal && !says_write_ahead_log(real))
      fault = "does not belong to it";
    if (fault != nullptr)
      return fmt::format("{} beside it {}: protocom did not write it; move it away", beside.filename().string(), fault);
  }
  return std::nullopt;
}

}  // namespace protocom
