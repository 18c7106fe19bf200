#pragma once
#include <filesystem>
#include <optional>

#include "io/unfinished.h"

namespace protocom {

/// Keeps other processes from making the same output at once. It is held by a lock on the empty file `output`.lock,
/// which goes away with it or with the program; what a killed process left of that excludes no process.
class OutputLock {
 public:
  /// Throws Error when another process, or another lock of this one, holds it.
  explicit OutputLock(const std::filesystem::path& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  int descriptor_ = -1;
  std::optional<UnfinishedPath> file_;
};

}  // namespace protocom
