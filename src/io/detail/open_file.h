#pragma once
#include <filesystem>
#include <string>

namespace protocom {

/// An open file, closed by the destructor.
class FileDescriptor {
 public:
  /// `flags` as for open(2). Throws Error if it cannot be opened.
  FileDescriptor(const std::filesystem::path& path, int flags);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

/// Returns the system's text for errno.
std::string system_reason();

/// Which pipes and devices may be read: none, or those that another program opened for this one (/dev/stdin,
/// /dev/fd/3).
enum class Streams { kRefused, kOpenOnes };

/// Throws Error for a folder, a pipe or a device: without a writer, or without an end, reading would never finish.
void check_readable(const std::filesystem::path& path, Streams streams);

}  // namespace protocom
