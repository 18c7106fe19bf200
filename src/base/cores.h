#pragma once

namespace protocom {

/// The number of cores this process may use (its CPU affinity and its cgroup's quota, not the machine's size).
int usable_cores();

}  // namespace protocom
