#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "networks/detail/fixed_backbone.h"
#include "networks/huggingface/detail/network.h"

namespace protocom {

/// A folder of Hugging Face: config.json, model.safetensors or its parts, and, where it is there,
/// preprocessor_config.json; or one safetensors file that has the texts of these as metadata of their names.
struct HuggingFaceFiles {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> texts;  ///< by the names of the files
};

/// The tensors of model.safetensors, or of the parts that model.safetensors.index.json names. Throws Error.
std::map<std::string, at::Tensor> tensors_of_folder(const std::filesystem::path& folder);
/// Throws Error for a folder without weights or config.json.
HuggingFaceFiles read_huggingface_folder(const std::filesystem::path& folder);
/// Whether a safetensors file is one of those.
bool is_huggingface_file(const std::map<std::string, std::string>& metadata);

/// Such files behind the Backbone contract, used as they are.
class HuggingFaceBackbone : public FixedBackbone {
 public:
  /// `asked` wins over preprocessor_config.json. Throws Error that names the family.
  HuggingFaceBackbone(const std::filesystem::path& path, const HuggingFaceFiles& files, const Preprocessing& asked);
  /// What config.json would say, and the images that the network takes.
  HuggingFaceBackbone(const std::filesystem::path& path, nlohmann::json config, huggingface::Tensors tensors,
                      const Preprocessing& images);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  void to(c10::Device device) override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;

 private:
  [[nodiscard]] at::Tensor channels_last(const at::Tensor& images) const;

  nlohmann::json config_;
  std::map<std::string, at::Tensor> tensors_;  // as they were read, for another device
  std::unique_ptr<huggingface::Network> network_;
  c10::Device device_ = at::kCPU;
};

}  // namespace protocom
