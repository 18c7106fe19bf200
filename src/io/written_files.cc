// Writing of files: completely or not at all, through links, to devices.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "io/detail/open_file.h"
#include "io/detail/pending_file.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int kMostLinks = 40;  // as many as Linux follows

/// Returns the end of a chain of links whose last target does not exist.
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

/// Whether a path is a device by name: /dev/stdout is a file if standard output is redirected to one, which the shell
/// holds open: replacing it would lose what is printed.
bool is_device_name(const fs::path& path) {
  const std::string text = path.string();
  return text.rfind("/dev/std", 0) == 0 || text.rfind("/dev/fd/", 0) == 0 || text.rfind("/proc/", 0) == 0;
}

/// Returns the destination. Throws Error if nothing can be written there: a folder, an invalid name, circular links.
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

fs::path parent_folder(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void make_parent(const fs::path& path) {
  std::error_code error;
  fs::create_directories(parent_folder(path), error);
  if (error) fail("cannot create the folder {}: {}", parent_folder(path).string(), error.message());
}

void sync(const fs::path& path, int flags) {
  const FileDescriptor file(path, flags);
  if (::fsync(file.get()) != 0) fail("cannot write {} to the disk: {}", meant_by(path).string(), system_reason());
}

/// Writes and closes an open file; `path` is for messages.
void write_all(int file, const fs::path& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string reason = system_reason();
      ::close(file);
      fail("cannot write {}: {}", meant_by(path).string(), reason);
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (::close(file) != 0) fail("cannot write {}: {}", meant_by(path).string(), system_reason());
}

/// Opens a file that must not exist: no link can have been put in its place.
int create_new(const fs::path& path, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file < 0) fail("cannot create {}: {}", meant_by(path).string(), system_reason());
  return file;
}

fs::path temporary_name(const OutputPlace& place) {
  return temporary_beside(place.is_stream ? fs::temp_directory_path() / "protocom-stream" : place.path);
}

/// Creates an empty file with a timestamp that marks it as not yet written.
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
  if (file < 0) fail("cannot create {}: {}", meant_by(path).string(), system_reason());
  return file;
}

void copy_to_stream(const fs::path& from, const fs::path& stream) {
  const int file = ::open(stream.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail("cannot write {}: {}", stream.string(), system_reason());
  const MappedFile content(from);
  write_all(file, stream, content.bytes());
}

/// Gives the new file the owner and permissions of the one that it replaces. Only root can change owners.
void take_over(const OutputPlace& place, const fs::path& temporary) {
  if (!place.exists) return;
  if (::geteuid() == 0 && ::lchown(temporary.c_str(), place.owner, place.group) != 0)
    logger().debug("{}: {}", temporary.string(), system_reason());
  if (::chmod(temporary.c_str(), place.mode) != 0) fail("cannot write {}: {}", place.path.string(), system_reason());
}

}  // namespace

void write_file(const fs::path& path, std::string_view content) {
  write_file_with(path, [&](const fs::path& temporary) { write_all(open_own(temporary), temporary, content); });
}

PendingFile::PendingFile(const fs::path& path)
    : path_(path), place_(output_place(path)), temporary_(temporary_name(place_)) {
  if (!place_.is_stream) make_parent(place_.path);
  // Only the owner may read a file without its final name, unless more may read the one it replaces.
  create_untouched(temporary(), place_.is_stream ? 0600 : place_.exists ? place_.mode : 0666);
}

void PendingFile::finish() {
  if (is_untouched(temporary())) fail("cannot write {}: nothing was written", path_.string());
  if (place_.is_stream) return;
  take_over(place_, temporary());
  sync(temporary(), O_RDONLY);
}

void PendingFile::put() {
  if (place_.is_stream) return copy_to_stream(temporary(), place_.path);
  std::error_code error;
  fs::rename(temporary(), place_.path, error);
  if (error) fail("cannot write {}: {}", path_.string(), error.message());
  temporary_.release();
  sync(parent_folder(place_.path), O_RDONLY | O_DIRECTORY);
}

void write_file_with(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  if (is_unfinished(path)) return write(path);
  PendingFile pending(path);
  write(pending.temporary());
  pending.finish();
  pending.put();
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

}  // namespace protocom
