#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings of the method, described in ctm.cc.
struct CtmOptions {
  int64_t ways = 5;
  int64_t shots = 1;
  int64_t channels = 64;
  std::string compare = "pooled";
  int64_t steps = 600;
  double learning_rate = 1e-3;
};

}  // namespace protocom
