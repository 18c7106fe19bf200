#include "encoders/encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encoders/torch_functions.h"
#include "io/files.h"
#include "io/memory_file.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "io/scratch_folder.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 6> kEncoders = {".onnx", ".tflite", ".pt", ".pth", ".safetensors", ".npz"};

bool may_be_encoder(const fs::path& path) {
  const std::string suffix = path.extension().string();
  return fs::is_regular_file(path) && path.filename() != kSpaceFile &&
         std::find(kEncoders.begin(), kEncoders.end(), suffix) != kEncoders.end();
}

/// Whether it is a file of weights or a TorchScript file, told without LibTorch: those are one file as they are. False
/// for what cannot be read; who opens it says why.
bool is_whole(const fs::path& file) {
  try {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    const MappedFile mapped(file);
    const std::string_view bytes = mapped.bytes();
    if (bytes.substr(0, 2) == "PK") {
      const std::vector<std::string> names = NpzReader(file).names();
      return std::none_of(names.begin(), names.end(),
                          [](const std::string& name) { return ends_with(name, "model.weights.h5"); });  // Keras
    }
    if (bytes.size() <= 9 || bytes[8] != '{') return false;  // a safetensors file: eight bytes of length, then JSON
    read_safetensors_metadata(file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

fs::path encoder_at(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || fs::exists(path / "config.json")) return path;
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
  return torch_open_encoder(path, asked);
}

fs::path as_one_file(const fs::path& path, const EncoderFileOptions& asked, const fs::path& folder) {
  const fs::path file = encoder_at(path);
  return asked.output.empty() && is_whole(file) ? file : torch_as_one_file(file, asked, folder);
}

bool runs_on_processor(const std::string& device) { return device == "cpu" || torch_on_processor(device); }

std::string hash_encoder(const fs::path& path, const EncoderFileOptions& asked) {
  const ScratchFolder scratch;
  return hash_file(as_one_file(path, asked, scratch.path()));
}

}  // namespace protocom
