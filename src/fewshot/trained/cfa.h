#pragma once
#include <cstdint>
#include <string>

namespace protocom {

/// Settings of the method, described in cfa.cc.
struct CfaOptions {
  std::string mixing = "learned";
  int64_t groups = 4;
  int64_t codewords = 4;
  int64_t batch = 64;
  int64_t steps = 600;
  double learning_rate = 1e-3;
};

}  // namespace protocom
