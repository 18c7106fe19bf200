#include "io/output_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace protocom {
namespace {

/// Whether an open file is still the one of that name: the previous holder of the lock may have removed it meanwhile.
bool is_named(int file, const std::filesystem::path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

OutputLock::OutputLock(const std::filesystem::path& output) {
  const std::filesystem::path path = output.string() + ".lock";
  for (;;) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot create {}: {}", path.string(), std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && (!S_ISREG(status.st_mode) || status.st_size > 0)) {
      ::close(descriptor_);
      fail("{} is not a lock file of protocom: move it, or choose another output than {}", path.string(),
           output.string());
    }
    const bool locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    // On a file system without locks no process is excluded, as before.
    const bool is_held = !locked && errno == EWOULDBLOCK;
    if (!is_held && (!locked || is_named(descriptor_, path))) break;
    ::close(descriptor_);
    if (is_held)
      fail("another protocom process is writing {}: wait for it to end, or choose another name", output.string());
  }
  file_.emplace(path);
}

OutputLock::~OutputLock() {
  file_.reset();
  ::close(descriptor_);
}

}  // namespace protocom
