#pragma once
#include <string_view>

#include "base/error.h"

namespace protocom {

/// Why a recognizer's file could not be read or changed.
enum class DatabaseFault {
  kFull,      ///< there is no room on the disk; nothing was changed
  kBusy,      ///< another process has kept it for too long; nothing was changed
  kDamaged,   ///< its bytes are not what they should be
  kReplaced,  ///< it is gone, or another one lies in its place; nothing was changed
  kOther
};

/// What the database under a recognizer refused, so that callers can distinguish the causes. Its message names the
/// file.
class DatabaseError : public Error {
 public:
  DatabaseError(DatabaseFault fault, std::string_view message) : Error(message), fault_(fault) {}
  [[nodiscard]] DatabaseFault fault() const { return fault_; }

 private:
  DatabaseFault fault_;
};

}  // namespace protocom
