#include "core/output_place.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "protocom/core/error.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

OutputPlace output_place(const fs::path& path) {
  if (path.empty()) fail("cannot write '': a file name was expected");
  struct stat status {};
  OutputPlace place;
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ELOOP || errno == ENAMETOOLONG) fail("cannot write {}: {}", path.string(), std::strerror(errno));
    if (!path.has_filename()) fail("cannot write {}: it is a folder's name, a file name was expected", path.string());
    place.path = follow(path, path);
    return place;
  }
  if (S_ISDIR(status.st_mode)) fail("cannot write {}: it is a folder, a file name was expected", path.string());
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

}  // namespace protocom
