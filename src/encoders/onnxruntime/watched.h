#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace protocom::onnxruntime {

/// Limits of a call of ONNX Runtime.
struct Allowance {
  std::chrono::seconds processor;  ///< processor time of the calling thread; ten times as long in wall time
  int64_t memory = 0;              ///< bytes by which the process may grow; 0: unlimited
};

/// Runs `work`, which owns all data that it uses, in a separate thread, and rethrows its exception. If it exceeds a
/// limit, calls `stop` and throws Error, which begins with `what` ("for an image"). The thread then ends when ONNX
/// Runtime allows it: an operator cannot be interrupted.
void run_watched(const std::string& what, const Allowance& allowed, const std::function<void()>& work,
                 const std::function<void()>& stop);

}  // namespace protocom::onnxruntime
