#pragma once
#include <memory>
#include <string>

#include "base/array.h"
#include "encoders/onnx_model_parts.h"
#include "encoders/onnxruntime/library.h"

namespace protocom::onnxruntime {

/// A network prepared by ONNX Runtime for a number of threads.
class LoadedModel {
 public:
  /// A thread may read `model` during the object's lifetime. Throws Error for a network rejected by ONNX Runtime, and
  /// for one that takes more than a minute of processor time or 3 GiB and five times its own size.
  LoadedModel(const std::shared_ptr<const onnx::ModelParts>& model, int threads);

  /// Returns the values of one output for float32 or float16 images; float32. Throws Error for other outputs, for
  /// failures, and if it takes more than a minute of processor time per image. `watch_memory`: also for more memory
  /// than allowed above; memory of other threads counts, so use it only in the trial of a network.
  [[nodiscard]] Array run(const std::string& input, Array images, const std::string& output, bool watch_memory) const;
  [[nodiscard]] int threads() const { return threads_; }

 private:
  std::shared_ptr<Session> session_;
  int threads_;
  int64_t most_memory_;
};

}  // namespace protocom::onnxruntime
