#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/array.h"
#include "encoders/onnxruntime/library.h"

namespace protocom::onnxruntime {

/// A network that ONNX Runtime has prepared for a number of threads.
class LoadedModel {
 public:
  /// `model`: the bytes of an ONNX file with all tensors inside. Throws Error for what ONNX Runtime refuses.
  LoadedModel(std::string_view model, int threads);

  /// The values of one output for float32 or float16 images; float32. Throws Error for other outputs and for what
  /// fails.
  [[nodiscard]] Array run(const std::string& input, Array images, const std::string& output) const;
  [[nodiscard]] int threads() const { return threads_; }

 private:
  struct Release {
    void operator()(Session* session) const { Library::get().call<ReleaseSession>(session); }
  };
  std::unique_ptr<Session, Release> session_;
  int threads_;
};

}  // namespace protocom::onnxruntime
