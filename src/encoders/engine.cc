#include "encoders/engine.h"

#include <atomic>

#include "base/enum_words.h"

namespace protocom {
namespace {

constexpr EnumWord<Engine> kEngines[] = {
    {Engine::kAuto, "auto"}, {Engine::kOnnxRuntime, "onnxruntime"}, {Engine::kTorch, "torch"}};

std::atomic<Engine> process_engine{Engine::kAuto};

}  // namespace

Engine parse_engine(std::string_view text) { return value_of(kEngines, text, "engine"); }

void set_engine(Engine engine) { process_engine = engine; }

Engine engine() { return process_engine; }

}  // namespace protocom
