#pragma once

namespace protocom {

/// Returns the number of cores this process may use (by its CPU affinity and its cgroup's quota, not the machine's
/// size).
int usable_cores();

}  // namespace protocom
