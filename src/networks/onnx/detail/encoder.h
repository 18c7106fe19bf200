#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>

#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/plan.h"

namespace protocom::onnx {

/// Returns the output that is the image's feature: the requested one, the only one, or the one with a name that
/// exporters use. Throws Error with the names to choose from.
std::string choose_output(const Model& model, const std::string& asked);

/// A model from images to one of its outputs, for any image size that it takes.
class Encoder {
 public:
  /// Throws Error if the output needs other inputs than one image.
  Encoder(Model model, const std::string& asked);

  /// The side of the images that the file is made for; 0: any.
  [[nodiscard]] int64_t fixed_side() const { return input_.side; }
  /// Computes float32 [n, 3, h, w], normalised -> [n, d]: maps are averaged over positions; from tokens takes the class
  /// token if there is one, else their mean.
  at::Tensor features(const at::Tensor& images);
  /// Computes [n, c, h', w'] from an output of maps, or of tokens of a square's positions. Throws Error.
  at::Tensor maps(const at::Tensor& images);
  /// Promises to use only the processor and float32 from now on.
  void freeze();
  [[nodiscard]] const Model& model() const { return model_; }

 private:
  struct Prepared {
    Plan plan;
    bool takes_many;  ///< if false, one image at a time
  };
  Prepared& prepared(const at::Tensor& images);
  at::Tensor output(const at::Tensor& images);
  [[nodiscard]] at::Tensor as_input(const at::Tensor& images) const;

  Model model_;
  std::string output_;
  ImageInput input_;
  std::map<std::pair<int64_t, int64_t>, Prepared> prepared_;  ///< by height and width
  c10::Device device_ = c10::Device(c10::kCPU);
  Plan::Use use_ = Plan::Use::kAny;
};

}  // namespace protocom::onnx
