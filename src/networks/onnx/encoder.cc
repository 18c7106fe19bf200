#include "networks/onnx/detail/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "encoders/output_checks.h"
#include "networks/device_precision.h"
#include "networks/onnx/detail/fuse.h"
#include "networks/onnx/detail/quantised.h"

namespace protocom::onnx {
namespace {

constexpr float kSameFeatures = 1e-3F;  // relative to the largest: batches sum in another order

bool is_given(const Model& model, const std::string& name) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [&](const Node& node) { return std::count(node.outputs.begin(), node.outputs.end(), name) > 0; });
}

at::Tensor pooled(const at::Tensor& output, bool channels_last) {
  if (output.dim() == 2) return output;
  if (output.dim() == 4) return channels_last ? output.mean({1, 2}) : output.mean({2, 3});
  if (output.dim() == 3) return have_class_token(output.size(1)) ? output.select(1, 0) : output.mean(1);
  if (output.dim() == 1) return output.unsqueeze(0);  // one image whose batch axis was dropped
  refuse_shape_of_output(output.sizes().vec());
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return false;
  const float largest = b.abs().max().item<float>();
  return (a - b).abs().max().item<float>() <= kSameFeatures * largest;
}

}  // namespace

std::string choose_output(const Model& model, const std::string& asked) {
  if (!asked.empty()) {
    if (is_given(model, asked)) return asked;
    refuse_name_of_output(asked, list_of(model.outputs));
  }
  return feature_output(model.outputs);
}

Encoder::Encoder(Model model, const std::string& asked) : model_(std::move(model)) {
  output_ = choose_output(model_, asked.empty() ? model_.feature : asked);
  simplify(model_, output_);
  input_ = image_input(model_.inputs, output_);
}

void Encoder::freeze() {
  if (use_ == Plan::Use::kFrozen) return;
  use_ = Plan::Use::kFrozen;
  prepared_.clear();
}

at::Tensor Encoder::as_input(const at::Tensor& images) const {
  return input_.channels_last ? images.permute({0, 2, 3, 1}).contiguous()
                              : images.contiguous(at::MemoryFormat::ChannelsLast);
}

/// Prepares a graph. One whose output for two images differs from that for each takes one at a time, and so does one
/// that quantises by the range of all of them: an image's feature must not depend on the others.
Encoder::Prepared& Encoder::prepared(const at::Tensor& images) {
  if (images.device() != device_) prepared_.clear();
  device_ = images.device();
  const std::pair<int64_t, int64_t> size{images.size(2), images.size(3)};
  if (const auto found = prepared_.find(size); found != prepared_.end()) return found->second;
  const PrecisionScope exact(Precision::kFloat32, device_);
  constexpr size_t kMostSizes = 4;
  if (prepared_.size() >= kMostSizes) prepared_.clear();
  const at::Tensor ramp =
      at::arange(images.size(2) * images.size(3), images.options()).view({1, 1, size.first, size.second});
  const at::Tensor two =
      at::cat({(ramp * 0.37).sin(), (ramp * 0.11).cos() * 0.5}).expand({2, 3, size.first, size.second});
  Prepared made{Plan(model_, output_, as_input(two.slice(0, 0, 1)), use_), true};
  const at::Tensor second = made.plan.run(as_input(two.slice(0, 1, 2)));
  if (quantises_by_range(model_)) made.takes_many = false;
  try {
    made.takes_many = made.takes_many && same(made.plan.run(as_input(two)), at::cat({made.plan.first(), second}));
  } catch (const Error& error) {
    made.takes_many = false;
    logger().debug("a batch fails: {}", error.what());
  }
  if (!made.takes_many && !quantises_by_range(model_))
    logger().info("the network takes one image at a time, which is slower: export it with a dynamic batch");
  return prepared_.emplace(size, std::move(made)).first->second;
}

at::Tensor Encoder::output(const at::Tensor& images) {
  const Prepared& ready = prepared(images);
  if (ready.takes_many) return ready.plan.run(as_input(images));
  std::vector<at::Tensor> each;
  for (int64_t i = 0; i < images.size(0); ++i) {
    const at::Tensor tensor = ready.plan.run(as_input(images.slice(0, i, i + 1)));
    each.push_back(tensor.dim() == 1 ? tensor.unsqueeze(0) : tensor);
  }
  return at::cat(each);
}

at::Tensor Encoder::features(const at::Tensor& images) {
  return pooled(output(images), input_.channels_last).to(at::kFloat);
}

at::Tensor Encoder::maps(const at::Tensor& images) {
  at::Tensor found = output(images);
  if (found.dim() == 4) return (input_.channels_last ? found.permute({0, 3, 1, 2}) : found).to(at::kFloat).contiguous();
  if (found.dim() == 3 && have_class_token(found.size(1)) && !have_class_token(found.size(1) - 1))
    found = found.slice(1, 1);
  if (found.dim() != 3 || have_class_token(found.size(1))) refuse_maps_of_output(output_, found.sizes().vec());
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(found.size(1)))));
  return found.transpose(1, 2).reshape({found.size(0), found.size(2), side, side}).to(at::kFloat).contiguous();
}

}  // namespace protocom::onnx
