#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings of the method, described in vfsl.cc.
struct VfslOptions {
  std::string space = "cl2n";
  int64_t ways = 20;
  int64_t shots = 1;
  int64_t hidden = 256;
  double divergence = 0.01;
  int64_t steps = 600;
  double learning_rate = 1e-3;
};

}  // namespace protocom
