#include "protocom/core/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kOpenFiles = "/proc/self/fd/";

}  // namespace

MemoryFile::MemoryFile() : file_(::memfd_create("protocom", MFD_CLOEXEC)) {
  if (file_ < 0) fail("cannot make a file in memory: {}", std::strerror(errno));
}

MemoryFile::~MemoryFile() { ::close(file_); }

void MemoryFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot write to a file in memory: {}", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

std::filesystem::path MemoryFile::path() const { return kOpenFiles + std::to_string(file_); }

std::string shown(const std::filesystem::path& path) {
  return path.string().rfind(kOpenFiles, 0) == 0 ? "a file in memory" : path.string();
}

}  // namespace protocom
