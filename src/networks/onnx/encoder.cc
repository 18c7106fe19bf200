#include "networks/onnx/detail/encoder.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "networks/detail/feature_names.h"
#include "networks/device_precision.h"
#include "networks/onnx/detail/fuse.h"

namespace protocom::onnx {
namespace {

constexpr float kSameFeatures = 1e-3F;  // of the largest one: batches sum in another order

constexpr const char* kTokens = "last_hidden_state";

const GraphValue* find(const std::vector<GraphValue>& values, const std::string& name) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const GraphValue& value) { return value.name == name; });
  return found == values.end() ? nullptr : &*found;
}

/// The only one of so many sizes.
const GraphValue* only_one(const std::vector<GraphValue>& values, size_t sizes) {
  const auto fits = [&](const GraphValue& value) { return value.sizes.size() == sizes; };
  if (std::count_if(values.begin(), values.end(), fits) != 1) return nullptr;
  return &*std::find_if(values.begin(), values.end(), fits);
}

std::string list_of(const std::vector<GraphValue>& values) {
  std::vector<std::string> texts;
  for (const GraphValue& value : values) {
    std::vector<std::string> sizes;
    for (const int64_t size : value.sizes) sizes.push_back(size < 0 ? "n" : std::to_string(size));
    texts.push_back(fmt::format("{} [{}]", value.name, fmt::join(sizes, ", ")));
  }
  return first_of(texts, 12);
}

bool is_given(const Model& model, const std::string& name) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [&](const Node& node) { return std::count(node.outputs.begin(), node.outputs.end(), name) > 0; });
}

/// Tokens [n, t, c]: a square number of them has no class token.
bool is_square(int64_t count) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(count))));
  return side * side == count;
}

at::Tensor pooled(const at::Tensor& output, bool channels_last) {
  if (output.dim() == 2) return output;
  if (output.dim() == 4) return channels_last ? output.mean({1, 2}) : output.mean({2, 3});
  if (output.dim() == 3) return is_square(output.size(1)) ? output.mean(1) : output.select(1, 0);
  if (output.dim() == 1) return output.unsqueeze(0);  // one image whose batch axis was dropped
  fail("its output is [{}], expected features [n, d], maps [n, c, h, w] or tokens [n, t, d]",
       fmt::join(output.sizes(), ", "));
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
    fail("it has no output '{}': choose among {}", excerpt(asked), list_of(model.outputs));
  }
  if (model.outputs.size() == 1) return model.outputs.front().name;
  for (const char* name : kFeatureNames) {
    if (find(model.outputs, name) != nullptr) return name;
  }
  for (const size_t sizes : {2U, 4U}) {
    if (const GraphValue* found = only_one(model.outputs, sizes)) return found->name;
  }
  if (find(model.outputs, kTokens) != nullptr) return kTokens;
  fail("it has several outputs: say which is the image's feature by --output, among {}", list_of(model.outputs));
}

Encoder::Encoder(Model model, const std::string& asked) : model_(std::move(model)) {
  output_ = choose_output(model_, asked.empty() ? model_.feature : asked);
  simplify(model_, output_);
  if (model_.inputs.size() != 1 || (!model_.inputs.front().sizes.empty() && model_.inputs.front().sizes.size() != 4)) {
    fail("'{}' needs {}: expected one input of images [n, 3, h, w]; export the image tower alone", excerpt(output_),
         list_of(model_.inputs));
  }
  const auto& sizes = model_.inputs.front().sizes;
  channels_last_ = sizes.size() == 4 && sizes[1] != 3 && sizes[3] == 3;
  if (sizes.size() == 4 && !channels_last_ && sizes[1] != 3 && sizes[1] != -1)
    fail("it takes images of {} channels, expected 3", sizes[1]);
}

void Encoder::freeze() {
  if (use_ == Plan::Use::kFrozen) return;
  use_ = Plan::Use::kFrozen;
  prepared_.clear();
}

int64_t Encoder::fixed_side() const {
  const auto& sizes = model_.inputs.front().sizes;
  if (sizes.size() != 4) return 0;
  const int64_t height = sizes[channels_last_ ? 1 : 2];
  const int64_t width = sizes[channels_last_ ? 2 : 3];
  if (height > 0 && width > 0 && height != width)
    fail("it takes images of {} x {} pixels, expected squares", width, height);
  return height > 0 && width > 0 ? height : 0;
}

at::Tensor Encoder::as_input(const at::Tensor& images) const {
  return channels_last_ ? images.permute({0, 2, 3, 1}).contiguous() : images.contiguous(at::MemoryFormat::ChannelsLast);
}

/// A graph whose answer for two images is not what it gives for each takes one at a time.
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
  try {
    made.takes_many = same(made.plan.run(as_input(two)), at::cat({made.plan.first(), second}));
  } catch (const Error& error) {
    made.takes_many = false;
    logger().debug("a batch fails: {}", error.what());
  }
  if (!made.takes_many)
    logger().info("the network takes one image at a time, which is slower: export it with a free batch");
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

at::Tensor Encoder::features(const at::Tensor& images) { return pooled(output(images), channels_last_).to(at::kFloat); }

at::Tensor Encoder::maps(const at::Tensor& images) {
  at::Tensor found = output(images);
  if (found.dim() == 4) return (channels_last_ ? found.permute({0, 3, 1, 2}) : found).to(at::kFloat).contiguous();
  if (found.dim() == 3 && !is_square(found.size(1)) && is_square(found.size(1) - 1)) found = found.slice(1, 1);
  if (found.dim() != 3 || !is_square(found.size(1)))
    fail("its output '{}' is [{}], no feature maps: name one that is", excerpt(output_),
         fmt::join(found.sizes(), ", "));
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(found.size(1)))));
  return found.transpose(1, 2).reshape({found.size(0), found.size(2), side, side}).to(at::kFloat).contiguous();
}

}  // namespace protocom::onnx
