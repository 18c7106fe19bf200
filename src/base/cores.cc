#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "base/to_whole.h"

namespace protocom {
namespace {

/// Returns the cores granted by a cgroup v2 quota, or a large number if there is none.
double cgroup_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 1e9;
  return std::stod(quota) / period;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const double granted = std::max(1.0, std::floor(cgroup_cores()));
  return std::max(1, to_whole<int>(std::min<double>(allowed, granted)));
}

}  // namespace protocom
