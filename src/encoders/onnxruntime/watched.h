#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace protocom::onnxruntime {

/// What a call of ONNX Runtime may use.
struct Allowance {
  std::chrono::seconds processor;  ///< time of a processor in the thread that calls it; ten times as long by the clock
  int64_t memory = 0;              ///< bytes by which the process may grow; 0: not watched
};

/// Runs `work`, which owns all that it uses, in a thread of its own, and throws what it throws. Once it takes more than
/// is allowed, calls `stop` and throws Error, which begins with `what` ("for an image"). The thread then ends when ONNX
/// Runtime lets it: an operator cannot be interrupted.
void run_watched(const std::string& what, const Allowance& allowed, const std::function<void()>& work,
                 const std::function<void()>& stop);

}  // namespace protocom::onnxruntime
