#include "encoders/detail/encoder_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "encoders/backbone.h"
#include "io/files.h"
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

std::string hash_encoder(const fs::path& path, const BackboneFileOptions& asked) {
  const ScratchFolder scratch;
  return hash_file(as_one_file(path, asked, scratch.path()));
}

}  // namespace protocom
