#pragma once
#include <torch/script.h>

#include <filesystem>
#include <string>

#include "networks/detail/fixed_backbone.h"

namespace protocom {

/// A network written by torch.jit as a Backbone. It normalises itself, or its preprocessing does.
class TorchScriptBackbone : public FixedBackbone {
 public:
  /// Loads the file and tries it on two images. Uses its stated preprocessing, unless `asked` has a size. `output`
  /// names the feature in a tuple or a dictionary, by name or index; empty: as stated by its extra file `output`, else
  /// chosen automatically. Throws Error if it is not TorchScript, its output is not a float [2, d], or an image's
  /// features depend on the call or on other images of the batch (training mode); UsageError if the size is unknown.
  TorchScriptBackbone(const std::filesystem::path& path, const Preprocessing& asked, int64_t otherwise,
                      const std::string& output);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  void set_mode(BackboneMode mode) override;
  void to(c10::Device device) override;
  /// Applies LibTorch's freezing, kept only if it gives the same features.
  void freeze() override;
  [[nodiscard]] int64_t most_images_a_pass() const override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override;

 private:
  c10::IValue run(const std::string& method, const at::Tensor& images);
  /// Returns the feature in the result of `forward` for this many images.
  [[nodiscard]] at::Tensor feature_of(const c10::IValue& given, int64_t images) const;
  void check_features_of_one();

  mutable torch::jit::Module module_;
  std::string output_;  // empty: automatic
  std::string name_;    // name of the file for messages: the path may not exist any more
  BackboneMode mode_ = BackboneMode::kUse;
  bool frozen_ = false;
  int64_t images_a_pass_ = Backbone::most_images_a_pass();
};

/// Writes the same program to another file that states which output is the feature (extra file `output`). Throws Error.
void write_torchscript(const std::filesystem::path& from, const std::string& output, const std::filesystem::path& to);

}  // namespace protocom
