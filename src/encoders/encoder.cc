#include "encoders/encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/plugin.h"
#include "base/text.h"
#include "encoders/encoder_engine.h"
#include "encoders/huggingface_images.h"
#include "encoders/installed_encoders.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_file_kind.h"
#include "encoders/onnx_model_parts.h"
#include "encoders/onnxruntime/encoder.h"
#include "encoders/onnxruntime/library.h"
#include "encoders/torch_functions.h"
#include "io/file_kinds.h"
#include "io/files.h"
#include "io/memory_file.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "io/scratch_folder.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

bool may_be_encoder(const fs::path& path) {
  return fs::is_regular_file(path) && path.filename() != kSpaceFile && has_encoder_suffix(path);
}

constexpr std::string_view kTfliteMark = "TFL3";  // after four bytes

/// Whether a GPU driver is installed: without one, LibTorch need not be loaded to look for a GPU, and nothing else uses
/// one.
bool may_have_gpu() {
  std::error_code ignored;
  return (fs::exists("/dev/nvidiactl", ignored) || fs::exists("/dev/dxg", ignored) ||
          fs::exists("/dev/kfd", ignored)) &&
         has_torch_plugin();
}

bool takes_onnxruntime(const fs::path& file, Engine engine) {
  if (engine == Engine::kTorch || !is_onnx_file(file)) return false;
  return engine == Engine::kOnnxRuntime || (!may_have_gpu() && onnxruntime::Library::is_there());
}

fs::path onnx_as_one_file(const fs::path& file, const std::string& output, const fs::path& folder) {
  const auto whole = onnx::self_contained(file, output);
  if (!whole) return file;
  fs::path written = folder / "backbone.onnx";
  write_file(written, *whole);
  return written;
}

/// Whether it is a file of weights or a TorchScript file, determined without LibTorch: those are single files. False if
/// it cannot be read; opening it reports why.
bool is_whole(const fs::path& file) {
  try {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    const MappedFile mapped(file);
    const std::string_view bytes = mapped.bytes();
    if (begins_as_zip(bytes)) {
      const std::vector<std::string> names = NpzReader(file).names();
      return std::none_of(names.begin(), names.end(),
                          [](const std::string& name) { return ends_with(name, "model.weights.h5"); });  // Keras
    }
    if (!begins_as_safetensors(bytes)) return false;
    read_safetensors_metadata(file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool is_onnx_file(const fs::path& file) {
  try {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored) || file.extension() == ".pb") return false;
    const MappedFile mapped(file);
    const std::string_view bytes = mapped.bytes();
    if (begins_as_safetensors(bytes)) return false;
    return (bytes.size() < 8 || bytes.substr(4, kTfliteMark.size()) != kTfliteMark) && onnx::looks_like_onnx(bytes);
  } catch (const Error&) {
    return false;
  }
}

UnstatedPreprocessing::UnstatedPreprocessing(std::string_view message) : Error(message) {}
UnstatedPreprocessing::UnstatedPreprocessing(const UnstatedPreprocessing& other) = default;
UnstatedPreprocessing::~UnstatedPreprocessing() = default;

fs::path encoder_at(const fs::path& name_or_path) {
  const fs::path path = find_encoder(name_or_path);
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  if (fs::exists(path / "config.json") || fs::exists(path / "open_clip_config.json")) {
    const fs::path graph = huggingface::onnx_of_folder(path);
    return graph.empty() ? path : graph;
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (may_be_encoder(entry.path())) names.push_back(entry.path().filename().string());
  }
  if (names.size() == 1) return path / names.front();
  std::sort(names.begin(), names.end());
  if (names.size() > 1)
    fail("{} has several files that may be its encoder: name one of {}", path.string(), fmt::join(names, ", "));
  fail(
      "{} has no encoder: expected an ONNX, TensorFlow Lite, TorchScript or safetensors file, or Hugging Face's "
      "config.json, preprocessor_config.json and model.safetensors",
      path.string());
}

fs::path space_beside(const fs::path& encoder) {
  std::error_code ignored;
  if (!fs::is_directory(encoder, ignored)) return {};
  const fs::path space = encoder / kSpaceFile;
  return fs::is_regular_file(space, ignored) ? space : fs::path();
}

std::unique_ptr<Encoder> open_encoder(const fs::path& path, const EncoderFileOptions& asked) {
  const fs::path file = encoder_at(path);
  if (takes_onnxruntime(file, asked.engine)) return std::make_unique<onnxruntime::OnnxEncoder>(file, asked);
  if (asked.engine == Engine::kOnnxRuntime)
    fail("{} is not an ONNX file, the only kind ONNX Runtime reads: use the engine auto or torch", path.string());
  // Without either engine, recommend installing the smaller one.
  if (asked.engine == Engine::kAuto && is_onnx_file(file) && !has_torch_plugin())
    reading(path, [&] { onnxruntime::Library::get(); });
  return torch_open_encoder(path, asked);
}

fs::path as_one_file(const fs::path& path, const EncoderFileOptions& asked, const fs::path& folder) {
  const fs::path file = encoder_at(path);
  if (is_onnx_file(file)) return reading(path, [&] { return onnx_as_one_file(file, asked.output, folder); });
  return asked.output.empty() && is_whole(file) ? file : torch_as_one_file(file, asked, folder);
}

bool runs_on_processor(const std::string& device) {
  return device == "cpu" || (device == "auto" && !may_have_gpu()) || torch_on_processor(device);
}

std::string engine_name_for(const fs::path& file) {
  if (takes_onnxruntime(file, engine())) return "ONNX Runtime " + onnxruntime::Library::get().version();
  return "LibTorch";
}

std::string hash_encoder(const fs::path& path, const EncoderFileOptions& asked) {
  const ScratchFolder scratch;
  return hash_file(as_one_file(path, asked, scratch.path()));
}

}  // namespace protocom
