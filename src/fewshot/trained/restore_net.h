#pragma once
#include <cstdint>

namespace protocom {

/// Settings of the method, described in restore_net.cc.
struct RestoreNetOptions {
  double share = 0.5;
  int64_t steps = 2000;
  int64_t batch = 128;
  double learning_rate = 1e-3;
};

}  // namespace protocom
