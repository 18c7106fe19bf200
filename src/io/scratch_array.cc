#include "io/scratch_array.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"

namespace protocom {

Array scratch_array(const std::filesystem::path& folder, Shape shape, NumberType type) {
  int64_t bytes = size_of(type);
  for (const int64_t size : shape) bytes *= size;
  std::filesystem::create_directories(folder);
  std::string name = (folder / ".scratch-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) fail("cannot create a file in {}: {}", folder.string(), std::strerror(errno));
  ::unlink(name.c_str());
  // Allocating the space now turns a full disk into a message; writing to a mapped hole would kill the process.
  const int full = ::posix_fallocate(file, 0, bytes);
  void* address =
      full == 0 ? ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const std::string reason = std::strerror(full != 0 ? full : errno);
  ::close(file);
  if (address == MAP_FAILED) fail("cannot reserve {} MB in {}: {}", bytes >> 20, folder.string(), reason);
  const auto release = [bytes](void* pointer) { ::munmap(pointer, static_cast<size_t>(bytes)); };
  return Array::view(address, std::move(shape), type, std::shared_ptr<void>(address, release));
}

}  // namespace protocom
