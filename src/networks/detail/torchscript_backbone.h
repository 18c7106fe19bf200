#pragma once
#include <torch/script.h>

#include <filesystem>
#include <string>

#include "networks/detail/fixed_backbone.h"

namespace protocom {

/// A network written by torch.jit behind the Backbone contract. It normalises by itself, or its preprocessing does.
class TorchScriptBackbone : public FixedBackbone {
 public:
  /// Loads the file and tries it on two images. What it states of its images is taken, unless `asked` has a size. Of a
  /// tuple or a dictionary `output` is the feature, by name or place; empty: what its extra file `output` says, else it
  /// is found. Throws Error when it is not TorchScript, its output is not a float [2, d], or an image's features depend
  /// on the call or on the images beside it (training mode); UsageError when the size is unknown.
  TorchScriptBackbone(const std::filesystem::path& path, const Preprocessing& asked, int64_t otherwise,
                      const std::string& output);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  void set_mode(BackboneMode mode) override;
  void to(c10::Device device) override;
  /// LibTorch's freezing, kept only where it gives the same features.
  void freeze() override;
  [[nodiscard]] int64_t most_images_a_pass() const override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override;

 private:
  c10::IValue run(const std::string& method, const at::Tensor& images);
  /// Of what `forward` returned for this many images.
  [[nodiscard]] at::Tensor feature_of(const c10::IValue& given, int64_t images) const;
  void check_features_of_one();

  mutable torch::jit::Module module_;
  std::string output_;  // empty: found
  std::string name_;    // of the file, for messages: where it lies may be gone while this lives
  BackboneMode mode_ = BackboneMode::kUse;
  bool frozen_ = false;
  int64_t images_a_pass_ = Backbone::most_images_a_pass();
};

/// The same program in another file that says which of its outputs is the feature (extra file `output`). Throws Error.
void write_torchscript(const std::filesystem::path& from, const std::string& output, const std::filesystem::path& to);

}  // namespace protocom
