#pragma once
#include <memory>
#include <string>

#include "base/array.h"
#include "encoders/onnx_model_parts.h"
#include "encoders/onnxruntime/library.h"

namespace protocom::onnxruntime {

/// How the threads of a pass are used.
struct ThreadUse {
  int count = 1;
  bool spinning = false;  ///< they spin between operators (SpinScope); after a pass they sleep

  bool operator==(const ThreadUse& other) const { return count == other.count && spinning == other.spinning; }
};

/// A network prepared by ONNX Runtime. Its passes may run at the same time.
class LoadedModel {
 public:
  /// A thread may read `model` during the object's lifetime. Throws Error for a network rejected by ONNX Runtime, and
  /// for one that takes more than a minute of processor time or 3 GiB and five times its own size.
  LoadedModel(const std::shared_ptr<const onnx::ModelParts>& model, const ThreadUse& threads);

  /// Returns the values of one output for float32 or float16 images; float32. Throws Error for other outputs, for
  /// failures, and if it takes more than a minute of processor time per image. `watch_memory`: also for more memory
  /// than allowed above; memory of other threads counts, so use it only in the trial of a network.
  [[nodiscard]] Array run(const std::string& input, Array images, const std::string& output, bool watch_memory) const;
  [[nodiscard]] const ThreadUse& threads() const { return threads_; }

 private:
  std::shared_ptr<Session> session_;
  ThreadUse threads_;
  int64_t most_memory_;
};

/// Returns the network of a file for these threads. All that ask for the same share it while one of them keeps it, so
/// that the lanes of a server have its weights once. `hash`: of the file's content. Thread-safe. Throws as LoadedModel.
std::shared_ptr<const LoadedModel> shared_model(const std::shared_ptr<const onnx::ModelParts>& model,
                                                const std::string& hash, const ThreadUse& threads);

}  // namespace protocom::onnxruntime
