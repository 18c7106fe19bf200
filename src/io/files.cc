#include "io/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "io/memory_file.h"
#include "io/unfinished.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

/// Where an output really goes.
struct OutputPlace {
  fs::path path;           ///< behind all links
  bool is_stream = false;  ///< a pipe or a device: it is written to, never replaced
  bool exists = false;
  mode_t mode = 0;  ///< permissions of the file that is there
  uid_t owner = 0;
  gid_t group = 0;
};

constexpr int kMostLinks = 40;  // as Linux itself follows

/// The end of a chain of links whose last target is not there.
fs::path follow(fs::path path, const fs::path& first) {
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(path, error)) return path;
    const fs::path target = fs::read_symlink(path, error);
    if (error) fail("cannot write {}: {}", first.string(), error.message());
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  fail("cannot write {}: {}", first.string(), std::strerror(ELOOP));
}

/// /dev/stdout is a file where standard output goes to one, which the shell holds open: replacing it would lose what is
/// printed.
bool is_device_name(const fs::path& path) {
  const std::string text = path.string();
  return text.rfind("/dev/std", 0) == 0 || text.rfind("/dev/fd/", 0) == 0 || text.rfind("/proc/", 0) == 0;
}

/// Throws Error when nothing can be written there: a folder, a name that is none, links in a circle.
OutputPlace output_place(const fs::path& path) {
  if (path.empty()) fail("cannot write '': expected a file name");
  struct stat status {};
  OutputPlace place;
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ELOOP || errno == ENAMETOOLONG) fail("cannot write {}: {}", path.string(), std::strerror(errno));
    if (!path.has_filename()) fail("cannot write {}: it is a folder's name, expected a file name", path.string());
    place.path = follow(path, path);
    return place;
  }
  if (S_ISDIR(status.st_mode)) fail("cannot write {}: it is a folder, expected a file name", path.string());
  place.is_stream = !S_ISREG(status.st_mode) || is_device_name(path);
  place.exists = true;
  place.mode = status.st_mode & 0777;
  place.owner = status.st_uid;
  place.group = status.st_gid;
  std::error_code error;
  place.path = place.is_stream ? path : fs::canonical(path, error);
  if (error) fail("cannot write {}: {}", path.string(), error.message());
  return place;
}

// What gzip makes of tables and word vectors; a file that unpacks to more was made to exhaust its reader.
constexpr int64_t kMostRatio = 200;
constexpr int64_t kRatioFrom = int64_t{32} << 20;
constexpr size_t kMostOfStream = size_t{1} << 30;  // a device may have no end

std::string system_reason() { return std::strerror(errno); }

class FileDescriptor {
 public:
  FileDescriptor(const fs::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (value_ < 0) fail("cannot open {}: {}", path.string(), system_reason());
  }
  ~FileDescriptor() { ::close(value_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

/// What another program sends to this one under a name that this one's own caller gave it.
bool is_open_stream(const fs::path& path) {
  const std::string text = path.string();
  return text == "/dev/stdin" || text.rfind("/dev/fd/", 0) == 0 || text.rfind("/proc/self/fd/", 0) == 0;
}

enum class Streams { kRefused, kOpenOnes };

/// A pipe without a writer, or a device without an end, would be read for ever.
void check_readable(const fs::path& path, Streams streams) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) fail("cannot read {}: it is a folder, expected a file", path.string());
  if (streams == Streams::kRefused || !is_open_stream(path))
    fail("cannot read {}: it is a {}, expected a plain file", path.string(),
         S_ISFIFO(status.st_mode) ? "pipe" : "device");
}

/// Unlike std::filesystem's, it calls an impossible name no folder: opening it then says what is wrong.
bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

fs::path parent_folder(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void make_parent(const fs::path& path) {
  std::error_code error;
  fs::create_directories(parent_folder(path), error);
  if (error) fail("cannot create the folder {}: {}", parent_folder(path).string(), error.message());
}

void sync(const fs::path& path, int flags) {
  const FileDescriptor file(path, flags);
  if (::fsync(file.get()) != 0) fail("cannot write {} to the disk: {}", path.string(), system_reason());
}

/// Writes and closes an open file; `path` is for messages.
void write_all(int file, const fs::path& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string reason = system_reason();
      ::close(file);
      fail("cannot write {}: {}", path.string(), reason);
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (::close(file) != 0) fail("cannot write {}: {}", path.string(), system_reason());
}

/// Opens a file that must not be there yet: no link can have been put in its place.
int create_new(const fs::path& path, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file < 0) fail("cannot create {}: {}", path.string(), system_reason());
  return file;
}

/// A new empty file that has not been written yet, as its time says.
void create_untouched(const fs::path& path, mode_t mode) {
  const int file = create_new(path, mode);
  constexpr std::array<timespec, 2> kLongAgo{};
  ::futimens(file, kLongAgo.data());
  ::close(file);
}

bool is_untouched(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_size == 0 && status.st_mtime == 0;
}

/// Opens the temporary file that this process has made.
int open_own(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) fail("cannot create {}: {}", path.string(), system_reason());
  return file;
}

void copy_to_stream(const fs::path& from, const fs::path& stream) {
  const int file = ::open(stream.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail("cannot write {}: {}", stream.string(), system_reason());
  const MappedFile content(from);
  write_all(file, stream, content.bytes());
}

/// Whoever may read and own the file that is replaced may also read and own the new one. Only root can give files away.
void take_over(const OutputPlace& place, const fs::path& temporary) {
  if (!place.exists) return;
  if (::geteuid() == 0 && ::lchown(temporary.c_str(), place.owner, place.group) != 0)
    logger().debug("{}: {}", temporary.string(), system_reason());
  if (::chmod(temporary.c_str(), place.mode) != 0) fail("cannot write {}: {}", place.path.string(), system_reason());
}

std::string hex(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

/// Takes the lines out of a stream of blocks; a line may span blocks.
class LineSplitter {
 public:
  LineSplitter(const std::function<bool(int64_t, std::string_view)>& visit, const fs::path& path)
      : visit_(visit), path_(path) {}

  bool add(std::string_view block) {
    size_t end = 0;
    while ((end = block.find('\n')) != std::string_view::npos) {
      if (!emit(block.substr(0, end))) return false;
      block.remove_prefix(end + 1);
    }
    if (pending_.size() + block.size() > kLongestLine)
      fail("{}:{}: the line is longer than {} MiB", path_.string(), line_ + 1, kLongestLine >> 20);
    pending_.append(block);
    return true;
  }

  void finish() {
    if (!pending_.empty()) emit({});
  }

 private:
  bool emit(std::string_view tail) {
    if (!pending_.empty()) {
      pending_.append(tail);
      tail = pending_;
    }
    if (!tail.empty() && tail.back() == '\r') tail.remove_suffix(1);
    const bool go_on = visit_(++line_, tail);
    pending_.clear();
    return go_on;
  }

  const std::function<bool(int64_t, std::string_view)>& visit_;
  const fs::path& path_;
  std::string pending_;
  int64_t line_ = 0;
};

}  // namespace

void check_plain_file(const fs::path& path) { check_readable(path, Streams::kRefused); }

namespace {

/// Room for a file; one of many gigabytes may be nothing but holes.
std::string room_for(int64_t size, const fs::path& path) {
  try {
    std::string content;
    content.reserve(static_cast<size_t>(size));
    return content;
  } catch (const std::exception&) {
    fail("cannot read {}: its {} MiB do not fit into memory", path.string(), size >> 20);
  }
}

}  // namespace

std::string read_file(const fs::path& path) {
  check_readable(path, Streams::kOpenOnes);
  const FileDescriptor file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("cannot read {}: {}", path.string(), system_reason());
  std::string content = room_for(status.st_size, path);
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read {}: {}", path.string(), system_reason());
    if (count == 0) return content;
    if (!S_ISREG(status.st_mode) && content.size() > kMostOfStream)
      fail("cannot read {}: it is not a plain file, and has more than {} MiB", path.string(), kMostOfStream >> 20);
    content.append(block.data(), static_cast<size_t>(count));
  }
}

void write_file(const fs::path& path, std::string_view content) {
  write_file_with(path, [&](const fs::path& temporary) { write_all(open_own(temporary), temporary, content); });
}

void write_file_with(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  if (is_unfinished(path)) return write(path);
  const OutputPlace place = output_place(path);
  if (!place.is_stream) make_parent(place.path);
  const fs::path beside = place.is_stream ? fs::temp_directory_path() / "protocom-stream" : place.path;
  UnfinishedPath temporary(temporary_beside(beside));
  // Only the owner may read what has no final name yet, unless more may read what it replaces.
  create_untouched(temporary.path(), place.is_stream ? 0600 : place.exists ? place.mode : 0666);
  write(temporary.path());
  if (is_untouched(temporary.path())) fail("cannot write {}: nothing was written", path.string());
  if (place.is_stream) return copy_to_stream(temporary.path(), place.path);
  take_over(place, temporary.path());
  sync(temporary.path(), O_RDONLY);
  std::error_code error;
  fs::rename(temporary.path(), place.path, error);
  if (error) fail("cannot write {}: {}", path.string(), error.message());
  temporary.release();
  sync(parent_folder(place.path), O_RDONLY | O_DIRECTORY);
}

void write_new_file(const fs::path& path, std::string_view content) {
  write_all(create_new(path, 0600), path, content);
}

void check_writable(const fs::path& path) {
  const OutputPlace place = output_place(path);
  if (place.is_stream) {
    if (::access(path.c_str(), W_OK) != 0) fail("cannot write {}: {}", path.string(), system_reason());
    return;
  }
  make_parent(place.path);
  remove_leftovers(place.path);
  const UnfinishedPath probe(temporary_beside(place.path));
  ::close(create_new(probe.path(), 0600));
}

void check_absent(const fs::path& path) {
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(path, ignored) && !output_place(path).is_stream;
  const bool is_kept = is_file || fs::is_directory(path, ignored);
  if (is_kept && !fs::is_empty(path, ignored))
    fail("{} is already there: remove it, or choose another name", path.string());
}

void for_each_line(const fs::path& path, const std::function<bool(int64_t, std::string_view)>& visit) {
  if (is_folder(path)) fail("cannot read {}: it is a folder, expected a text file", path.string());
  check_readable(path, Streams::kOpenOnes);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail("cannot open {}: {}", path.string(), system_reason());
  gzbuffer(file.get(), 1 << 17);
  LineSplitter lines(visit, path);
  std::vector<char> block(1 << 17);
  int64_t unpacked = 0;
  for (;;) {
    const int count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      fail("cannot read {}: {}", path.string(), code == Z_ERRNO ? system_reason() : std::string(reason));
    }
    if (count == 0) break;
    unpacked += count;
    if (unpacked > kRatioFrom && unpacked / kMostRatio > gzoffset(file.get()))
      fail("cannot read {}: it unpacks to more than {} times its size", path.string(), kMostRatio);
    if (!lines.add({block.data(), static_cast<size_t>(count)})) return;
  }
  lines.finish();
}

std::string hash_file(const fs::path& path) {
  check_plain_file(path);
  const FileDescriptor file(path, O_RDONLY);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> block(1 << 20);
  for (;;) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read {}: {}", path.string(), system_reason());
    if (count == 0) return hex(XXH3_128bits_digest(state.get()));
    XXH3_128bits_update(state.get(), block.data(), static_cast<size_t>(count));
  }
}

std::string hash_bytes(std::string_view bytes) { return hex(XXH3_128bits(bytes.data(), bytes.size())); }

void rethrow_for(const fs::path& path) {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string reason = one_line(reason_of(error));
    const std::string name = shown(path);
    const bool says_where = reason.find(one_line(excerpt(path.string(), 200))) != std::string::npos ||
                            reason.find(one_line(excerpt(name, 200))) != std::string::npos;
    if (says_where && dynamic_cast<const Error*>(&error) != nullptr &&
        dynamic_cast<const UsageError*>(&error) == nullptr)
      throw;
    if (says_where) throw Error(reason);
    fail("{}: {}", name, reason);
  }
}

MappedFile::MappedFile(const fs::path& path) {
  check_plain_file(path);
  const FileDescriptor file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("cannot read {}: {}", path.string(), system_reason());
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) fail("cannot map {} into memory: {}", path.string(), system_reason());
  data_ = static_cast<const char*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace protocom
