#pragma once
#include <string_view>

namespace protocom {

/// What computes an encoder.
enum class Engine {
  kAuto,         ///< ONNX Runtime for an ONNX file where it is installed and no GPU is, else LibTorch
  kOnnxRuntime,  ///< for ONNX files, on the processor
  kTorch         ///< LibTorch, for every kind of file
};

/// "auto", "onnxruntime" or "torch". Throws UsageError for anything else.
Engine parse_engine(std::string_view text);

/// The engine of encoders that are opened from now on, in the whole process, unless one is requested by its options.
/// kAuto until it is set.
void set_engine(Engine engine);
/// What set_engine() was given last.
Engine engine();

}  // namespace protocom
