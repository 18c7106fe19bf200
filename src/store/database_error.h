#pragma once
#include <string_view>

#include "base/error.h"

namespace protocom {

/// Why a recognizer's file could not be read or changed.
enum class DatabaseFault {
  kFull,      ///< there is no room on the disk; nothing was changed
  kBusy,      ///< another process kept it locked for too long; nothing was changed
  kDamaged,   ///< its bytes are not as they should be
  kReplaced,  ///< it is gone, or another file is in its place; nothing was changed
  kOther
};

/// An error of the database in a recognizer's file, with its cause for callers. The message names the file.
class DatabaseError : public Error {
 public:
  DatabaseError(DatabaseFault fault, std::string_view message) : Error(message), fault_(fault) {}
  [[nodiscard]] DatabaseFault fault() const { return fault_; }

 private:
  DatabaseFault fault_;
};

}  // namespace protocom
