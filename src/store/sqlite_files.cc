#include "store/detail/sqlite_files.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/log.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// A journal begins with these bytes. One that names a super-journal also ends with them.
constexpr std::array<unsigned char, 8> kMagic = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

sqlite3_vfs* system_layer() { return sqlite3_vfs_find(nullptr); }

/// A file opened for reading by SQLite's own layer. A std::ifstream would not do: closing it drops the locks that this
/// process holds on the same file through another connection (sqlite.org/howtocorrupt.html, section 2.2).
class FileOnDisk {
 public:
  explicit FileOnDisk(const fs::path& path)
      : name_(sqlite3_create_filename(path.c_str(), "", "", 0, nullptr)),
        memory_(static_cast<size_t>(system_layer()->szOsFile) / sizeof(std::max_align_t) + 1) {
    constexpr int kFlags = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY;
    if (name_ == nullptr || system_layer()->xOpen(system_layer(), name_, get(), kFlags, nullptr) != SQLITE_OK)
      get()->pMethods = nullptr;
  }
  ~FileOnDisk() {
    if (get()->pMethods != nullptr) get()->pMethods->xClose(get());
    sqlite3_free_filename(name_);
  }
  FileOnDisk(const FileOnDisk&) = delete;
  FileOnDisk& operator=(const FileOnDisk&) = delete;
  [[nodiscard]] sqlite3_file* get() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

 private:
  sqlite3_filename name_;
  std::vector<std::max_align_t> memory_;
};

/// Returns -1 if the size is unknown, as for a file that is not open.
sqlite3_int64 size_of(sqlite3_file* file) {
  sqlite3_int64 size = -1;
  if (file->pMethods == nullptr || file->pMethods->xFileSize(file, &size) != SQLITE_OK) return -1;
  return size;
}

template <size_t kCount>
std::optional<std::array<unsigned char, kCount>> read_at(sqlite3_file* file, sqlite3_int64 offset) {
  std::array<unsigned char, kCount> bytes{};
  if (offset < 0 || offset + static_cast<sqlite3_int64>(kCount) > size_of(file)) return std::nullopt;
  if (file->pMethods->xRead(file, bytes.data(), static_cast<int>(kCount), offset) != SQLITE_OK) return std::nullopt;
  return bytes;
}

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24U | uint32_t{bytes[1]} << 16U | uint32_t{bytes[2]} << 8U | uint32_t{bytes[3]};
}

/// The header of one segment of a rollback journal; sqlite.org/fileformat.html, section 3.
struct JournalHeader {
  static constexpr size_t kSize = 28;
  uint32_t records;
  uint32_t pages_before;
  uint32_t sector;
  uint32_t page_size;
};

std::optional<JournalHeader> header_at(sqlite3_file* journal, sqlite3_int64 offset) {
  const auto bytes = read_at<JournalHeader::kSize>(journal, offset);
  if (!bytes || !std::equal(kMagic.begin(), kMagic.end(), bytes->begin())) return std::nullopt;
  const auto field = [&](size_t at) { return big_endian(bytes->data() + at); };
  return JournalHeader{field(8), field(16), field(20), field(24)};
}

constexpr size_t kDatabaseHead = 32;

/// What the header of a database states about its pages.
struct DatabasePages {
  uint32_t size = 0;   ///< bytes of a page
  uint32_t count = 0;  ///< as stated by the first page
};

DatabasePages pages_of(const unsigned char* head) {
  const uint32_t size = uint32_t{head[16]} << 8U | uint32_t{head[17]};
  return {size == 1 ? 65536U : size, big_endian(head + 28)};
}

/// Returns the page information before a change of the first page; nothing if the journal does not contain that page.
std::optional<DatabasePages> first_page_before(sqlite3_file* journal, const JournalHeader& first) {
  const sqlite3_int64 record = sqlite3_int64{first.page_size} + 8;  // number, page, checksum
  sqlite3_int64 offset = 0;
  while (const auto header = header_at(journal, offset)) {
    offset += first.sector;
    const sqlite3_int64 there = (size_of(journal) - offset) / record;
    for (sqlite3_int64 i = 0; i < std::min<sqlite3_int64>(header->records, there); ++i, offset += record) {
      const auto head = read_at<4 + kDatabaseHead>(journal, offset);
      if (head && big_endian(head->data()) == 1) return pages_of(head->data() + 4);
    }
    offset = (offset + first.sector - 1) / first.sector * first.sector;
  }
  return std::nullopt;
}

/// Whether playing back a journal would give the database another size than it had when the change began. SQLite trusts
/// the size in the journal's header: it truncates the file, or grows it by terabytes. The first page of a database
/// states the number of its pages; the original first page is in the journal or, if it has not changed yet, in the
/// database.
bool lies_about_size(sqlite3_file* journal, sqlite3_file* database) {
  constexpr uint32_t kLeastPage = 512;
  constexpr uint32_t kLeastSector = 32;
  constexpr uint32_t kMost = 65536;  // limit of SQLite
  const auto first = header_at(journal, 0);
  if (!first) return false;  // SQLite plays nothing back
  const auto head = read_at<kDatabaseHead>(database, 0);
  if (!head) return true;
  const DatabasePages now = pages_of(head->data());
  if (first->page_size != now.size || now.size < kLeastPage) return true;
  if (first->sector < kLeastSector || first->sector > kMost) return true;
  return first_page_before(journal, *first).value_or(now).count != first->pages_before;
}

bool names_super_journal(sqlite3_file* journal) {
  const sqlite3_int64 size = size_of(journal);
  if (size >= 0 && size < static_cast<sqlite3_int64>(kMagic.size())) return false;
  const auto tail = read_at<kMagic.size()>(journal, size - static_cast<sqlite3_int64>(kMagic.size()));
  return !tail || *tail == kMagic;
}

const char* fault_seen_in(sqlite3_file* journal, sqlite3_file* database) {
  if (names_super_journal(journal)) return "names another file, which SQLite would delete";
  if (lies_about_size(journal, database)) return "claims a wrong size for it";
  return nullptr;
}

/// Size and header, which contains a random number: no two journals have both in common.
struct JournalState {
  sqlite3_int64 size;
  std::optional<std::array<unsigned char, JournalHeader::kSize>> header;

  explicit JournalState(sqlite3_file* journal)
      : size(size_of(journal)), header(read_at<JournalHeader::kSize>(journal, 0)) {}
  bool operator==(const JournalState& other) const { return size == other.size && header == other.header; }
};

/// Returns why a journal must not be played back; null: it may be. Another process may end its change and empty the
/// journal during the check: a fault counts only if the journal did not change. An empty one has nothing to play back,
/// and two empty ones compare equal although there was another one between them.
const char* fault_of_journal(sqlite3_file* journal, const fs::path& path_of_database) {
  constexpr int kMostLooks = 100;
  FileOnDisk database(path_of_database);
  const char* fault = nullptr;
  for (int look = 0; look < kMostLooks; ++look) {
    const JournalState before(journal);
    if (before.size == 0) return nullptr;
    fault = fault_seen_in(journal, database.get());
    if (fault == nullptr || JournalState(journal) == before) return fault;
  }
  return fault;
}

int open_guarded(sqlite3_vfs* /*layer*/, const char* name, sqlite3_file* file, int flags, int* opened) {
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) return SQLITE_CANTOPEN;
  if ((flags & SQLITE_OPEN_WAL) != 0 && !uses_write_ahead_log(sqlite3_filename_database(name))) return SQLITE_CANTOPEN;
  const int code = system_layer()->xOpen(system_layer(), name, file, flags, opened);
  const bool is_kept_journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && (flags & SQLITE_OPEN_CREATE) == 0;
  if (code != SQLITE_OK || !is_kept_journal) return code;
  if (fault_of_journal(file, sqlite3_filename_database(name)) != nullptr) {
    file->pMethods->xClose(file);
    file->pMethods = nullptr;
    return SQLITE_CANTOPEN;
  }
  // SQLite inspects a journal with a read-only handle, and opens it for writing to play it back.
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

bool uses_write_ahead_log(const fs::path& database) {
  constexpr size_t kWriteVersion = 18;
  const auto head = read_at<kWriteVersion + 1>(FileOnDisk(database).get(), 0);
  return head && head->back() == 2;
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
    else if (is_journal)
      fault = fault_of_journal(FileOnDisk(beside).get(), real);
    else if (!uses_write_ahead_log(real))
      fault = "does not belong to it";
    if (fault != nullptr)
      return fmt::format("{} beside it {}: protocom did not write it; move it away", beside.filename().string(), fault);
  }
  return std::nullopt;
}

}  // namespace protocom
