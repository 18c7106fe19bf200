#include "networks/onnx/detail/layout.h"

#include <algorithm>
#include <cmath>

#include "networks/onnx/detail/blocks.h"
#include "networks/onnx/detail/convolution.h"

namespace protocom::onnx {
namespace {

/// Whether an operator works on individual channels and preserves zeros.
bool is_passing(const Node& node) {
  static const std::set<std::string> kAll = {
      "Relu",    "Clip",        "HardSwish",         kSilu,          "Gelu", "LeakyRelu", "Add", "Mul",
      "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"};
  return node.domain.empty() && node.outputs.size() == 1 && kAll.count(node.op) > 0;
}

bool is_pair(const Node& node) { return node.op == "Add" || node.op == "Mul"; }

/// Whether a node may take blocks, as far as is known before it is bound.
bool may_take_blocks(const Model& model, const Node& node, size_t input) {
  if (is_convolution(node)) return input == 0 || input == 3;
  if (!is_passing(node)) return false;
  return !is_pair(node) || std::none_of(node.inputs.begin(), node.inputs.end(),
                                        [&](const std::string& name) { return model.constants.count(name) > 0; });
}

bool is_clip_around_zero(const Binding& binding) {
  for (const size_t i : {1U, 2U}) {
    const char* name = i == 1 ? "min" : "max";
    double bound = 0;
    if (binding.has_attribute(name))
      bound = binding.number(name, 0);
    else if (binding.has(i))
      bound = binding.constant(i).defined() && binding.constant(i).numel() == 1 ? binding.values(i).front() : NAN;
    if (!(i == 1 ? bound <= 0 : bound >= 0)) return false;
  }
  return true;
}

}  // namespace

Layout::Layout(const Model& model, const std::string& output) {
  plain_.insert(output);
  for (const Node& node : model.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!may_take_blocks(model, node, i)) plain_.insert(node.inputs[i]);
    }
  }
}

bool Layout::gives_blocks(const Node& node) const {
  return node.outputs.size() == 1 && plain_.count(node.outputs.front()) == 0;
}

Sizes Layout::sizes(const std::string& name, at::IntArrayRef lying) const {
  const auto found = channels_.find(name);
  if (found == channels_.end()) return lying.vec();
  return {lying[0] / count_blocks(found->second), found->second, lying[2], lying[3]};
}

bool Layout::passes_blocks(const Binding& binding) const {
  const Node& node = binding.node();
  if (!is_passing(node) || (node.op == "Clip" && !is_clip_around_zero(binding))) return false;
  if (!is_pair(node)) return true;
  const Sizes& a = binding.sizes(0);
  const Sizes& b = binding.sizes(1);
  return a.size() == 4 && b.size() == 4 && a[0] == b[0] && a[1] == b[1] && !binding.constant(0).defined() &&
         !binding.constant(1).defined();
}

Operation Layout::convolution(const Binding& binding) {
  const Node& node = binding.node();
  const Convolution what = convolution_of(binding);
  const bool is_sum = binding.has(3);
  if (is_sum && (binding.constant(3).defined() || binding.sizes(3) != what.output())) return {};
  const auto filter = blocked_convolution(what, is_sum ? Added::kYes : Added::kNo);
  if (!filter) return {};
  const bool in_blocks = is_in_blocks(node.inputs[0]);
  const bool as_images = takes_images(what);
  const bool turn_added = is_sum && !is_in_blocks(node.inputs[3]);
  const int64_t channels = what.weight.size(0);
  const bool gives = gives_blocks(node);
  if (gives) channels_[node.outputs.front()] = channels;
  return one_output([run = *filter, in_blocks, as_images, is_sum, turn_added, gives, channels,
                     image_channels = what.input[1]](Tensors& in) {
    at::Tensor images = std::move(in.at(0));
    if (as_images && in_blocks) images = from_blocks(images, image_channels);
    if (!as_images && !in_blocks) images = to_blocks(images);
    at::Tensor added;
    if (is_sum) added = turn_added ? to_blocks(in.at(3)) : std::move(in.at(3));
    const at::Tensor blocks = run(images, std::move(added));
    return gives ? blocks : from_blocks(blocks, channels);
  });
}

Operation Layout::passing(const Binding& binding, const Operation& plain) {
  const Node& node = binding.node();
  std::vector<bool> turn;
  int64_t channels = 0;
  for (const std::string& name : node.inputs) {
    const auto found = channels_.find(name);
    if (found != channels_.end()) channels = found->second;
    turn.push_back(is_pair(node) && found == channels_.end());
  }
  const bool gives = gives_blocks(node);
  if (gives) channels_[node.outputs.front()] = channels;
  return [=](Tensors& in) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (turn[i]) in[i] = to_blocks(in[i]);
    }
    Tensors out = plain(in);
    if (!gives) out.front() = from_blocks(out.front(), channels);
    return out;
  };
}

Operation Layout::on_maps(const Node& node, const Operation& plain) const {
  std::vector<int64_t> channels;  // 0: a plain map
  for (const std::string& name : node.inputs) channels.push_back(is_in_blocks(name) ? channels_.at(name) : 0);
  return [=](Tensors& in) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (channels[i] > 0) in[i] = from_blocks(in[i], channels[i]);
    }
    return plain(in);
  };
}

Operation Layout::operation(const Binding& binding) {
  const Node& node = binding.node();
  const bool in_blocks =
      std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) { return is_in_blocks(name); });
  if (is_convolution(node) && (is_in_blocks(node.inputs.at(0)) || gives_blocks(node))) {
    if (Operation made = convolution(binding)) return made;
  }
  const Operation plain = find_maker(node)(binding);
  if (!in_blocks) return plain;
  return passes_blocks(binding) ? passing(binding, plain) : on_maps(node, plain);
}

}  // namespace protocom::onnx
