#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace protocom {

/// A file in memory, for bytes that come from somewhere else than a file and a reader that wants one. It is gone with
/// the object.
class MemoryFile {
 public:
  /// An empty one, which messages call `name`, or the last 249 bytes of it. Throws Error when the system has none left.
  explicit MemoryFile(const std::string& name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Adds bytes at its end. Throws Error.
  void append(std::string_view bytes);
  /// Where this process can open it, as often as it likes.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  int file_ = -1;
};

/// What messages call a path: the name of a MemoryFile that lives for that of one, else the path itself.
std::string shown(const std::filesystem::path& path);

}  // namespace protocom
