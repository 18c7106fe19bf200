#pragma once
#include <memory>
#include <string>

#include "base/array.h"
#include "encoders/onnx_model_parts.h"
#include "encoders/onnxruntime/library.h"

namespace protocom::onnxruntime {

/// A network that ONNX Runtime has prepared for a number of threads.
class LoadedModel {
 public:
  /// A thread may read `model` for as long as it lives. Throws Error for what ONNX Runtime refuses, and for a network
  /// that takes more than a minute of a processor or 3 GiB and five times its own size.
  LoadedModel(const std::shared_ptr<const onnx::ModelParts>& model, int threads);

  /// The values of one output for float32 or float16 images; float32. Throws Error for other outputs and for what
  /// fails or takes more than a minute of a processor for each image. `watch_memory`: and for more memory than may be
  /// taken above; what other threads take counts, so only where the network is tried.
  [[nodiscard]] Array run(const std::string& input, Array images, const std::string& output, bool watch_memory) const;
  [[nodiscard]] int threads() const { return threads_; }

 private:
  std::shared_ptr<Session> session_;
  int threads_;
  int64_t most_memory_;
};

}  // namespace protocom::onnxruntime
