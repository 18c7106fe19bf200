#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "networks/detail/fixed_backbone.h"
#include "networks/huggingface/detail/network.h"

namespace protocom {

/// A folder of Hugging Face: config.json, model.safetensors or its parts, and, if present, preprocessor_config.json; or
/// one safetensors file with their texts as metadata under their names.
struct HuggingFaceFiles {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> texts;  ///< by file name
};

/// Returns the tensors of model.safetensors, or of the parts that model.safetensors.index.json names. Throws Error.
std::map<std::string, at::Tensor> tensors_of_folder(const std::filesystem::path& folder);
/// Reads weights and configuration. Throws Error for a folder without weights or config.json.
HuggingFaceFiles read_huggingface_folder(const std::filesystem::path& folder);
/// Returns whether the metadata of a safetensors file say that it holds such a network.
bool is_huggingface_file(const std::map<std::string, std::string>& metadata);

/// Backbone that uses such files as they are.
class HuggingFaceBackbone : public FixedBackbone {
 public:
  /// `asked` takes precedence over preprocessor_config.json. Throws Error that names the family.
  HuggingFaceBackbone(const std::filesystem::path& path, const HuggingFaceFiles& files, const Preprocessing& asked);
  /// Takes what config.json would say and the images that the network expects.
  HuggingFaceBackbone(const std::filesystem::path& path, nlohmann::json config, huggingface::Tensors tensors,
                      const Preprocessing& images);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  void to(c10::Device device) override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;

 private:
  [[nodiscard]] at::Tensor channels_last(const at::Tensor& images) const;

  nlohmann::json config_;
  std::map<std::string, at::Tensor> tensors_;  // as read, to build the network on another device
  std::unique_ptr<huggingface::Network> network_;
  c10::Device device_ = at::kCPU;
};

}  // namespace protocom
