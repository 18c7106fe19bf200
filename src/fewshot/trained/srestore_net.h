#pragma once
#include <cstdint>

namespace protocom {

/// Settings of the method; srestore_net.cc says what each is.
struct SRestoreNetOptions {
  int64_t neighbours = 4;
  double share = 0.5;
};

}  // namespace protocom
