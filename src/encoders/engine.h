#pragma once
#include <string_view>

namespace protocom {

/// The software that computes an encoder.
enum class Engine {
  kAuto,         ///< ONNX Runtime for an ONNX file if it is installed and there is no GPU, else LibTorch
  kOnnxRuntime,  ///< for ONNX files, on the processor
  kTorch         ///< LibTorch, for every kind of file
};

/// Parses "auto", "onnxruntime" or "torch". Throws UsageError for anything else.
Engine parse_engine(std::string_view text);

/// Sets the engine of encoders opened from now on, in the whole process, unless their options request one. Initially
/// kAuto.
void set_engine(Engine engine);
/// Returns the engine last set.
Engine engine();

}  // namespace protocom
