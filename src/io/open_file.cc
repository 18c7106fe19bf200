#include "io/detail/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Whether a path is a stream that this program's caller has opened for it.
bool is_open_stream(const fs::path& path) {
  const std::string text = path.string();
  return text == "/dev/stdin" || text.rfind("/dev/fd/", 0) == 0 || text.rfind("/proc/self/fd/", 0) == 0;
}

}  // namespace

std::string system_reason() { return std::strerror(errno); }

FileDescriptor::FileDescriptor(const fs::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC)) {
  if (value_ < 0) fail("cannot open {}: {}", path.string(), system_reason());
}

FileDescriptor::~FileDescriptor() { ::close(value_); }

void check_readable(const fs::path& path, Streams streams) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  if (S_ISDIR(status.st_mode)) fail("cannot read {}: it is a folder, expected a file", path.string());
  if (streams == Streams::kRefused || !is_open_stream(path))
    fail("cannot read {}: it is a {}, expected a plain file", path.string(),
         S_ISFIFO(status.st_mode) ? "pipe" : "device");
}

}  // namespace protocom
