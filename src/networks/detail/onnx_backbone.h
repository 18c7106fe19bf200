#pragma once
#include <filesystem>
#include <string>

#include "networks/detail/fixed_backbone.h"
#include "networks/onnx/detail/encoder.h"

namespace protocom {

/// An ONNX or TensorFlow Lite file behind the Backbone contract: data, not a program. Its preprocessing normalises.
class OnnxBackbone : public FixedBackbone {
 public:
  /// Tries the network. Images have the side that the graph is made for, whatever `asked` has. `output`: by name, or
  /// empty. Throws Error for an unsupported network, UsageError where the normalisation of images is unknown.
  OnnxBackbone(const std::filesystem::path& path, onnx::Model model, const Preprocessing& asked,
               const std::string& output);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  void freeze() override;
  [[nodiscard]] int64_t most_images_a_pass() const override { return images_a_pass_; }
  /// The constants under their names.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;

 private:
  onnx::Encoder encoder_;
  int64_t images_a_pass_ = Backbone::most_images_a_pass();
};

}  // namespace protocom
