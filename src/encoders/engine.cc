#include "encoders/engine.h"

#include <atomic>

#include "base/error.h"

namespace protocom {
namespace {

std::atomic<Engine> process_engine{Engine::kAuto};

}  // namespace

Engine parse_engine(std::string_view text) {
  if (text == "auto") return Engine::kAuto;
  if (text == "onnxruntime") return Engine::kOnnxRuntime;
  if (text == "torch") return Engine::kTorch;
  fail_usage("unknown engine '{}': expected auto, onnxruntime or torch", text);
}

void set_engine(Engine engine) { process_engine = engine; }

Engine engine() { return process_engine; }

}  // namespace protocom
