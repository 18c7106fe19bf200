#pragma once
#include <filesystem>

namespace protocom {

/// A folder among the system's temporary files, removed with the object.
class ScratchFolder {
 public:
  /// Throws Error if none can be created.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace protocom
