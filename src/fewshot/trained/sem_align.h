#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings of the method, described in sem_align.cc.
struct SemAlignOptions {
  std::string space = "cl2n";
  std::string semantics = "both";
  int64_t hidden = 1024;
  int64_t steps = 1000;
  int64_t batch = 128;
  double learning_rate = 1e-4;
  double share = -1;
  double scale = 10;
};

}  // namespace protocom
