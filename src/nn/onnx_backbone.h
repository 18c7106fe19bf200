#pragma once
#include <filesystem>
#include <string>

#include "nn/onnx/encoder.h"
#include "protocom/nn/backbone.h"

namespace protocom {

/// A network as data and what its file says of it.
struct GraphFile {
  onnx::Model model;
  Preprocessing stated = {};  ///< size 0: nothing
  std::string feature = {};   ///< the value that is the image's feature; empty: one of the outputs
};

/// An ONNX file; it states its images by its metadata `preprocessing.json`. Throws Error.
GraphFile read_onnx_file(const std::filesystem::path& path);
/// A TensorFlow Lite file; one that is quantised states its images by the numbers of its input. Throws Error.
GraphFile read_tflite_file(const std::filesystem::path& path);

/// An ONNX or TensorFlow Lite file behind the Backbone contract: data, not a program. Its preprocessing normalises.
class OnnxBackbone : public Backbone {
 public:
  /// Tries the network. Images have the side that the graph is made for, whatever `said` has. `output`: by name, or
  /// empty. Throws Error for a network that is not read, UsageError where nobody says how images are normalised.
  OnnxBackbone(const std::filesystem::path& path, GraphFile file, const Preprocessing& said, const std::string& output);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  [[nodiscard]] int64_t dim() const override { return dim_; }
  [[nodiscard]] int64_t image_size() const override { return preprocessing_.image_size; }
  [[nodiscard]] Preprocessing preprocessing() const override { return preprocessing_; }
  void set_mode(BackboneMode mode) override;
  void to(c10::Device device) override;
  /// The constants under their names.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override { return {}; }

 private:
  [[nodiscard]] at::Tensor normalised(const at::Tensor& images) const;

  std::filesystem::path path_;
  onnx::Encoder encoder_;
  Preprocessing preprocessing_;
  at::Tensor mean_;  // [1, 3, 1, 1]; undefined: none
  at::Tensor std_;
  int64_t dim_ = 0;
};

}  // namespace protocom
