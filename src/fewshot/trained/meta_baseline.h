#pragma once
#include <cstdint>

namespace protocom {

/// Settings of the method, described in meta_baseline.cc.
struct MetaBaselineOptions {
  int64_t shots = 1;
  int64_t steps = 500;
  double learning_rate = 1e-2;
};

}  // namespace protocom
