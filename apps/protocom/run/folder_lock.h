#pragma once
#include <filesystem>

namespace protocom::cli {

/// Keeps a second run out of the same folder for as long as it lives.
class FolderLock {
 public:
  /// Throws Error when the folder cannot be opened or is locked.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace protocom::cli
