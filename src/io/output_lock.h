#pragma once
#include <filesystem>
#include <optional>

#include "io/unfinished.h"

namespace protocom {

/// Keeps other processes from making the same output at the same time. It locks the empty file `output`.lock, which is
/// removed with it or with the program; a file left by a killed process excludes no process.
class OutputLock {
 public:
  /// Throws Error if another process, or another lock of this one, holds it.
  explicit OutputLock(const std::filesystem::path& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  int descriptor_ = -1;
  std::optional<UnfinishedPath> file_;
};

}  // namespace protocom
