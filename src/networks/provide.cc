#include "networks/provide.h"

#include <filesystem>
#include <memory>
#include <string>

#include "base/threads.h"
#include "encoders/torch_functions.h"
#include "networks/backbone.h"
#include "networks/detail/backbone_as_onnx.h"
#include "networks/text/detail/tower.h"
#include "networks/torch_encoder.h"
#include "tensors/device.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

/// Initialises LibTorch's thread count in this thread: LibTorch sets it at its first operator in a thread, which would
/// undo a ThreadScope around that.
void begin_in_this_thread() { static_cast<void>(thread_count()); }

std::unique_ptr<Encoder> open_torch_encoder(const std::filesystem::path& path, const EncoderFileOptions& asked) {
  begin_in_this_thread();
  return std::make_unique<TorchEncoder>(open_backbone(path, asked));
}

fs::path write_as_onnx(const fs::path& path, const EncoderFileOptions& asked, const fs::path& folder) {
  begin_in_this_thread();
  return backbone_as_onnx(path, asked, folder);
}

std::unique_ptr<text::Tower> open_text_tower(const std::string& family, const nlohmann::json& config,
                                             const std::map<std::string, Array>& tensors,
                                             const text::SentenceModules& modules) {
  begin_in_this_thread();
  return text::make_tower(family, config, tensors_of(tensors), modules);
}

bool is_processor(const std::string& device) { return parse_device(device).is_cpu(); }

}  // namespace

void provide_networks() {
  torch_open_encoder.provide(&open_torch_encoder);
  torch_as_one_file.provide(&backbone_as_one_file);
  torch_as_onnx.provide(&write_as_onnx);
  torch_open_text_tower.provide(&open_text_tower);
  torch_on_processor.provide(&is_processor);
}

}  // namespace protocom
