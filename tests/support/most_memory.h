#pragma once
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace protocom::testing {

/// Returns the peak of bytes that the process uses while `work` runs, above what it used before; 0 if the system does
/// not report it.
template <typename Work>
int64_t most_memory_of(const Work& work) {
  const auto kibibytes = [](const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind(name, 0) == 0) return std::stoll(line.substr(name.size() + 1));
    return 0LL;
  };
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const int64_t before = kibibytes("VmRSS");
  const bool is_reset = kibibytes("VmHWM") <= before + (16 << 10);
  work();
  if (!is_reset) return 0;
  return std::max<int64_t>(0, kibibytes("VmHWM") - before) * 1024;
}

}  // namespace protocom::testing
