#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings of the method, described in fslkt.cc.
struct FslktOptions {
  std::string space = "cl2n";
  int64_t hidden = 512;
  double dropout = 0.5;
  int64_t steps = 400;
  double learning_rate = 1e-3;
  double knowledge = 1;
  double scale = 10;
};

}  // namespace protocom
