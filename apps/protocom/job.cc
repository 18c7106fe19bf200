#include "job.h"

#include <cstdio>

#include "protocom/core/error.h"
#include "terminal_progress.h"

namespace protocom::cli {
namespace {

/// Only the first process of a job speaks.
void fall_silent() {
  terminal_progress().set_verbosity(Verbosity::kQuiet);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) fail("/dev/null cannot be opened");
}

}  // namespace

const ProcessGroup& job() {
  static const ProcessGroup group(launch_from_environment());
  static const bool silent = [] {
    if (!group.leads()) fall_silent();
    return !group.leads();
  }();
  static_cast<void>(silent);
  return group;
}

}  // namespace protocom::cli
