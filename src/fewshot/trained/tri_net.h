#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings of the method, described in tri_net.cc.
struct TriNetOptions {
  std::string semantics = "words";
  int64_t hidden = 256;
  int64_t made = 4;
  double noise = 0.15;
  double c = 1;
  int64_t batch = 64;
  int64_t steps = 600;
  double learning_rate = 1e-3;
};

}  // namespace protocom
