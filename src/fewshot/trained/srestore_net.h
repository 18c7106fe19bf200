#pragma once
#include <cstdint>

namespace protocom {

/// Settings of the method, described in srestore_net.cc.
struct SRestoreNetOptions {
  int64_t neighbours = 4;
  double share = 0.5;
};

}  // namespace protocom
