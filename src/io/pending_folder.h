#pragma once
#include <filesystem>

#include "io/unfinished.h"

namespace protocom {

/// A folder that is made beside its final place and renamed to it when it is complete; removed otherwise, so that a
/// failure leaves nothing and can be repeated.
class PendingFolder {
 public:
  /// Throws Error if anything but an empty folder is at the final place, or no folder can be made there.
  explicit PendingFolder(const std::filesystem::path& final_place);

  /// Its path until keep().
  [[nodiscard]] const std::filesystem::path& path() const { return pending_.path(); }

  /// Moves it to its final place.
  void keep();

 private:
  std::filesystem::path final_;
  UnfinishedPath pending_;
};

}  // namespace protocom
