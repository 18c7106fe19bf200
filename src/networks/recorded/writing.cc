#include "networks/recorded/detail/writing.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace protocom::recorded {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// Returns the sizes; empty if the value is not a tensor.
std::vector<int64_t> sizes_of(const Value* value) {
  const auto type = value->type()->cast<c10::TensorType>();
  const auto sizes = type ? type->sizes().concrete_sizes() : c10::nullopt;
  return sizes ? *sizes : std::vector<int64_t>{};
}

Item known(c10::IValue first, c10::IValue second) {
  Item made;
  made.is_known = true;
  made.known = std::move(first);
  made.other = std::move(second);
  return made;
}

Item named(std::string name) {
  Item made;
  made.name = std::move(name);
  return made;
}

bool all_known(const std::vector<Item>& items) {
  return std::all_of(items.begin(), items.end(), [](const Item& one) { return one.is_known; });
}

/// Returns a list of known values; None for members of other types.
c10::IValue list_of(const std::vector<Item>& items, c10::IValue Item::*which, const c10::TypePtr& member) {
  if (member->kind() == c10::TypeKind::IntType) {
    std::vector<int64_t> all;
    for (const Item& one : items) all.push_back((one.*which).toInt());
    return all;
  }
  c10::impl::GenericList all(member);
  for (const Item& one : items) all.push_back(one.*which);
  return all;
}

}  // namespace

const Item& Writing::item(const Value* value) const { return items_.at(value); }

Lengths Writing::lengths(const Value* value, const Value* other) const {
  const std::vector<int64_t> a = sizes_of(value), b = sizes_of(other);
  if (a.size() != b.size()) throw UnequalRecordings();
  Lengths made = a;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] % images_ != 0 || a[i] / images_ * other_images_ != b[i])
      fail("a dimension is {} for {} images and {} for {}: give the encoder as ONNX", a[i], images_, b[i],
           other_images_);
    made[i] = -(a[i] / images_);
  }
  return made;
}

std::string Writing::shape(const Lengths& lengths) {
  if (std::all_of(lengths.begin(), lengths.end(), [](int64_t one) { return one >= 0; }))
    return graph_.integers(lengths);
  if (count_.empty())
    count_ = graph_.node("Gather", {graph_.node("Shape", {"image"}), graph_.integers({0})}, {{"axis", int64_t{0}}});
  std::vector<std::string> parts;
  for (const int64_t one : lengths) {
    if (one >= 0)
      parts.push_back(graph_.integers({one}));
    else
      parts.push_back(one == -1 ? count_ : graph_.node("Mul", {count_, graph_.integers({-one})}));
  }
  return graph_.node("Concat", parts, {{"axis", int64_t{0}}});
}

void Writing::add_list(const Node& node) {
  std::vector<Item> members;
  for (const Value* input : node.inputs()) members.push_back(item(input));
  const auto member = node.output()->type()->expectRef<c10::ListType>().getElementType();
  Item made;
  if (all_known(members)) made = known(list_of(members, &Item::known, member), list_of(members, &Item::other, member));
  made.members = std::move(members);
  items_[node.output()] = std::move(made);
}

/// Adds members of a list that an operator returned, consecutive along an axis.
void Writing::add_parts(const Node& node, const Node& other) {
  const Item& whole = item(node.input());
  int64_t begin = 0;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    if (whole.is_known) {
      const c10::IValue one = whole.known.toListRef().at(i);
      items_[node.outputs()[i]] = known(one, one);
      continue;
    }
    const Lengths sizes = lengths(node.outputs()[i], other.outputs()[i]);
    const int64_t length = sizes.at(static_cast<size_t>(whole.parts_axis));
    if (length < 0) fail("a batch is split within the network: give the encoder as ONNX");
    items_[node.outputs()[i]] =
        named(graph_.node("Slice", {whole.name, graph_.integers({begin}), graph_.integers({begin + length}),
                                    graph_.integers({whole.parts_axis})}));
    begin += length;
  }
}

/// Computes a node that is independent of the images. Returns false if it is not.
bool Writing::compute(const Node& node) {
  torch::jit::Stack stack;
  for (const Value* input : node.inputs()) {
    const Item& one = item(input);
    if (!one.is_known || !is_fixed(one)) return false;
    stack.push_back(one.known);
  }
  if (node.maybeSchema() == nullptr) return false;
  node.getOperation()(stack);
  for (size_t i = 0; i < node.outputs().size(); ++i) items_[node.outputs()[i]] = known(stack.at(i), stack.at(i));
  return true;
}

void Writing::add_operator(const Node& node, const Node& other) {
  const std::string name = node.kind().toQualString();
  const bool cuts = name == "aten::chunk" || name == "aten::split" || name == "aten::split_with_sizes";
  const Write writer = writer_of(name);
  if ((writer == nullptr && !cuts) || node.maybeSchema() == nullptr)
    fail("exporting its operator '{}' to ONNX is not supported: give the encoder as ONNX", name);
  Step::Inputs inputs;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    inputs.items.push_back(item(node.inputs()[i]));
    inputs.sizes.push_back(lengths(node.inputs()[i], other.inputs()[i]));
  }
  if (!cuts) inputs.result = lengths(node.output(), other.output());
  inputs.shape = [this](const Lengths& sizes) { return shape(sizes); };
  const Step step(node, std::move(inputs), graph_);
  Item made = named(cuts ? step.value("self") : writer(step));
  if (cuts) made.parts_axis = step.axis("dim");
  items_[node.outputs()[0]] = std::move(made);
}

void Writing::add(const Node& node, const Node& other) {
  if (node.kind() != other.kind() || node.inputs().size() != other.inputs().size() ||
      node.outputs().size() != other.outputs().size())
    throw UnequalRecordings();
  if (node.kind() == c10::prim::Constant)
    items_[node.output()] = known(*torch::jit::toIValue(node.output()), *torch::jit::toIValue(other.output()));
  else if (node.kind() == c10::prim::ListConstruct)
    add_list(node);
  else if (node.kind() == c10::prim::ListUnpack)
    add_parts(node, other);
  else if (!compute(node))
    add_operator(node, other);
}

std::string Writing::write(const Recording& first, const Recording& second) {
  images_ = first.images;
  other_images_ = second.images;
  items_[first.graph->inputs().at(0)] = named("image");
  auto other = second.graph->nodes().begin();
  for (const Node* node : first.graph->nodes()) {
    if (other == second.graph->nodes().end()) throw UnequalRecordings();
    add(*node, **other);
    ++other;
  }
  if (other != second.graph->nodes().end()) throw UnequalRecordings();
  const Item& feature = item(first.graph->outputs().at(0));
  if (feature.is_known) fail("its features do not depend on the images");
  return feature.name;
}

}  // namespace protocom::recorded
