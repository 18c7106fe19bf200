#pragma once
#include <filesystem>
#include <string>

#include "networks/detail/fixed_backbone.h"
#include "networks/onnx/detail/encoder.h"

namespace protocom {

/// An ONNX or TensorFlow Lite file as a Backbone: data, not a program. Normalises by its preprocessing.
class OnnxBackbone : public FixedBackbone {
 public:
  /// Tries the network. Images have the side that the graph is made for, whatever `asked` states. `output`: by name, or
  /// empty. Throws Error for an unsupported network, UsageError if the normalisation of images is unknown.
  OnnxBackbone(const std::filesystem::path& path, onnx::Model model, const Preprocessing& asked,
               const std::string& output);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  void freeze() override;
  [[nodiscard]] int64_t most_images_a_pass() const override { return images_a_pass_; }
  /// The constants by name.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;

 private:
  onnx::Encoder encoder_;
  int64_t images_a_pass_ = Backbone::most_images_a_pass();
};

}  // namespace protocom
