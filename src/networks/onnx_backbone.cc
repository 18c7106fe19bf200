#include "networks/detail/onnx_backbone.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "encoders/chosen_preprocessing.h"
#include "encoders/output_checks.h"
#include "io/files.h"
#include "networks/detail/image_tensors.h"
#include "networks/detail/module_backbone.h"

namespace protocom {
OnnxBackbone::OnnxBackbone(const std::filesystem::path& path, onnx::Model model, const Preprocessing& asked,
                           const std::string& output)
    : FixedBackbone(path), encoder_(std::move(model), output) {
  const at::NoGradGuard no_grad;
  const std::string where = path.string();
  set_preprocessing(
      choose_preprocessing(fitting_side(asked, encoder_.fixed_side(), where), encoder_.model().stated, 0, where));
  try_out();
}

at::Tensor OnnxBackbone::forward(const at::Tensor& images) {
  const at::NoGradGuard no_grad;
  return reading(path(), [&] {
    at::Tensor features = encoder_.features(normalised(images));
    if (features.dim() != 2 || features.size(0) != images.size(0))
      refuse_count_of_output(features.sizes().vec(), images.size(0));
    return features;
  });
}

void OnnxBackbone::freeze() {
  encoder_.freeze();
  if (at::get_num_threads() == 1) images_a_pass_ = images_of_one_thread(image_size(), 2);
}

at::Tensor OnnxBackbone::forward_maps(const at::Tensor& images) {
  const at::NoGradGuard no_grad;
  return reading(path(), [&] { return encoder_.maps(normalised(images)); });
}

std::vector<std::pair<std::string, at::Tensor>> OnnxBackbone::state_dict() const {
  const auto& constants = encoder_.model().constants;
  return {constants.begin(), constants.end()};
}

}  // namespace protocom
