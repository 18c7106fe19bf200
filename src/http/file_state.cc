#include "http/detail/file_state.h"

#include <utility>

#include "base/log.h"

namespace protocom::http {

void FileState::check(Clock::time_point arrived) {
  const std::lock_guard lock(mutex_);
  if (busy_at_ >= arrived)
    throw DatabaseError(DatabaseFault::kBusy,
                        "the recognizer's file is locked by another process; nothing was changed");
}

void FileState::note(const DatabaseError& error) {
  const std::lock_guard lock(mutex_);
  if (error.fault() == DatabaseFault::kBusy) busy_at_ = Clock::now();
  if (error.fault() != DatabaseFault::kReplaced) return;
  if (!std::exchange(is_replaced_, true)) logger().error("{}", error.what());
}

void FileState::note_found() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_replaced_, false)) logger().info("the recognizer's file is back");
}

}  // namespace protocom::http
