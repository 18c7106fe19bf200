#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings that AM3 and its relatives share, described in detail/am3_parameters.h.
struct Am3Options {
  std::string space = "cl2n";
  int64_t ways = 20;
  int64_t shots = 1;
  int64_t hidden = 300;
  double dropout = 0.7;
  int64_t steps = 1000;
  double learning_rate = 1e-3;
};

/// Settings of a method that also takes the kind of semantics.
struct Am3SemanticsOptions : Am3Options {
  std::string semantics = "both";
};

}  // namespace protocom
