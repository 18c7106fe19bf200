#include "run/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "protocom/core/error.h"

namespace protocom::cli {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail("cannot open the folder {}: {}", folder.string(), std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  fail("another protocom run is already running in {}", folder.parent_path().string());
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace protocom::cli
