#pragma once
#include <csignal>
#include <string_view>

#include "base/progress.h"
#include "base/stop_signal.h"

namespace protocom::testing {

/// Requests a stop after step `step` of a training.
class StopAt : public Progress {
 public:
  StopAt(StopSignal& signal, int64_t step) : signal_(signal), step_(step) {}
  void start(std::string_view, int64_t) override {}
  void advance(int64_t done, std::string_view detail) override {
    if (done == step_ && !detail.empty()) signal_.request(SIGTERM);
  }
  void finish() override {}

 private:
  StopSignal& signal_;
  int64_t step_;
};

}  // namespace protocom::testing
