#include "io/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace protocom {
namespace {

constexpr const char* kOpenFiles = "/proc/self/fd/";
constexpr size_t kLongestName = 249;  // memfd_create
// Prefix that the system adds to a name.
constexpr std::string_view kBeforeName = "/memfd:";
constexpr std::string_view kAfterName = " (deleted)";

std::string end_of(const std::string& name) { return name.substr(name.size() - std::min(name.size(), kLongestName)); }

}  // namespace

MemoryFile::MemoryFile(const std::string& name) : file_(::memfd_create(end_of(name).c_str(), MFD_CLOEXEC)) {
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
  if (path.string().rfind(kOpenFiles, 0) != 0) return path.string();
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(path, error).string();
  if (target.size() < kBeforeName.size() + kAfterName.size() || target.rfind(kBeforeName, 0) != 0) return path.string();
  return target.substr(kBeforeName.size(), target.size() - kBeforeName.size() - kAfterName.size());
}

}  // namespace protocom
