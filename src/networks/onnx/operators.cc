#include "networks/onnx/detail/operators.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <fmt/format.h>

#include <map>

#include "base/error.h"

namespace protocom::onnx {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 26;
constexpr size_t kMostSizes = 64;            // of a tensor: as many as LibTorch reduces over
constexpr int64_t kMaxIntegers = 1'000'000;  // in a constant list of sizes, indices or the like

/// The operators by name.
const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> kAll = [] {
    std::map<std::string, Operator> all;
    for (const auto* group : {&elementwise_operators(), &shape_operators(), &reduction_operators(),
                              &network_operators(), &place_operators(), &quantised_operators()}) {
      for (const Operator& item : *group) all.emplace(item.name, item);
    }
    return all;
  }();
  return kAll;
}

const Attribute* find(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : &found->second;
}

}  // namespace

const Sizes& Binding::sizes(size_t input) const {
  if (!has(input)) fail("missing input {}", input + 1);
  return sizes_[input];
}

at::Tensor Binding::constant(size_t input) const { return has(input) ? constants_[input] : at::Tensor(); }

at::Tensor Binding::weight(size_t input) const {
  const at::Tensor value = constant(input);
  if (!value.defined()) fail("input {} depends on the image: expected a constant", input + 1);
  return value.to(device_);
}

Sizes Binding::integer_values(size_t input) const {
  const at::Tensor value = constant(input);
  if (!value.defined()) fail("input {}: expected constant numbers", input + 1);
  if (!c10::isIntegralType(value.scalar_type(), /*includeBool=*/false) || value.numel() > kMaxIntegers)
    fail("input {}: expected a few whole numbers", input + 1);
  const at::Tensor flat = value.to(at::kLong).reshape({-1}).contiguous();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

std::vector<double> Binding::values(size_t input) const {
  const at::Tensor value = constant(input);
  if (!value.defined() || value.numel() > kMaxIntegers) fail("input {}: expected a few constant numbers", input + 1);
  const at::Tensor flat = value.to(at::kDouble).reshape({-1}).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

double Binding::number(const char* name, double otherwise) const {
  const Attribute* found = find(node_, name);
  return found != nullptr && found->number ? *found->number : otherwise;
}

int64_t Binding::whole(const char* name, int64_t otherwise) const {
  const Attribute* found = find(node_, name);
  return found != nullptr && found->whole ? *found->whole : otherwise;
}

Sizes Binding::integers(const char* name, const Sizes& otherwise) const {
  const Attribute* found = find(node_, name);
  return found != nullptr && !found->integers.empty() ? found->integers : otherwise;
}

std::string Binding::text(const char* name, const char* otherwise) const {
  const Attribute* found = find(node_, name);
  return found != nullptr ? found->text : otherwise;
}

Sizes Binding::integers_or_input(const char* name, size_t input, const Sizes& otherwise) const {
  if (has_attribute(name)) return integers(name, {});
  return has(input) ? integer_values(input) : otherwise;
}

Maker find_maker(const Node& node) {
  const auto found = operators().find(node.op);
  if (found == operators().end() || !node.domain.empty()) {
    const bool optimised = node.domain.rfind("com.microsoft", 0) == 0;
    fail("the operator {}{}{} is not supported: install ONNX Runtime for --engine onnxruntime (docs/encoders.md){}",
         excerpt(node.domain), node.domain.empty() ? "" : ".", excerpt(node.op),
         optimised ? ", or optimise the file at ONNX Runtime's level basic only, which uses no such operators" : "");
  }
  return found->second.make;
}

std::string name_of(const Node& node) {
  return node.name.empty() ? excerpt(node.op) : fmt::format("{} '{}'", excerpt(node.op), excerpt(node.name));
}

void check_inputs(const Node& node) {
  const auto found = operators().find(node.op);
  if (found != operators().end() && node.domain.empty()) check_inputs(node, found->second.inputs);
}

void check_inputs(const Node& node, size_t least) {
  for (size_t i = 0; i < least; ++i) {
    if (i >= node.inputs.size() || node.inputs[i].empty())
      fail("{}: missing input {}, expected at least {}", name_of(node), i + 1, least);
  }
}

void check_elements(at::IntArrayRef sizes) {
  int64_t count = 1;
  if (sizes.size() > kMostSizes) fail("the output has {} axes, expected at most {}", sizes.size(), kMostSizes);
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > kMostElements)
      fail("the output has more than {} values", kMostElements);
  }
}

Sizes broadcast(at::IntArrayRef a, at::IntArrayRef b) {
  Sizes sizes = at::infer_size(a, b);
  check_elements(sizes);
  return sizes;
}

int64_t axis_of(int64_t axis, size_t dims) {
  const auto count = static_cast<int64_t>(dims);
  if (axis < -count || axis >= count) fail("axis {} is out of range: the input has {} axes", axis, dims);
  return axis < 0 ? axis + count : axis;
}

bool is_own(const at::Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1 && tensor.is_non_overlapping_and_dense() &&
         !tensor.requires_grad();
}

}  // namespace protocom::onnx
