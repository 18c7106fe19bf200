#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace protocom {

/// A file in memory, for bytes that are not in a file and a reader that needs one. Removed with the object.
class MemoryFile {
 public:
  /// Creates an empty file, named `name` in messages, or the last 249 bytes of it. Throws Error if the system has none
  /// left.
  explicit MemoryFile(const std::string& name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Appends bytes. Throws Error.
  void append(std::string_view bytes);
  /// A path at which this process can open it, repeatedly.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  int file_ = -1;
};

/// Returns a path for messages: the name of a live MemoryFile with that path, else the path itself.
std::string shown(const std::filesystem::path& path);

}  // namespace protocom
