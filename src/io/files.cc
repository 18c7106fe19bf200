// Reading of files.
#include "io/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/error.h"
#include "io/detail/open_file.h"
#include "io/memory_file.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostOfStream = size_t{1} << 30;  // a device may have no end

/// Allocates memory for a file; one of many gigabytes may be sparse.
std::string room_for(int64_t size, const fs::path& path) {
  try {
    std::string content;
    content.reserve(static_cast<size_t>(size));
    return content;
  } catch (const std::exception&) {
    fail("cannot read {}: its {} MiB do not fit into memory", path.string(), size >> 20);
  }
}

std::string hex(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void check_plain_file(const fs::path& path) { check_readable(path, Streams::kRefused); }

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
