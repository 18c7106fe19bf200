#include "networks/onnx/detail/quantised.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/tensor_proto.h"

/// Networks of whole numbers of 8 or 16 bits: x is about (q - zero point) * scale.
namespace protocom::onnx {
namespace {

constexpr int64_t kInt32 = 6;  // TensorProto.DataType
constexpr int64_t kUint8 = 2;

/// Returns the shape of an input (a scale, a zero point) for broadcasting with input 0: one for all, or one for each
/// position of `axis`. Throws Error.
Sizes shape_beside(const Binding& binding, size_t input, int64_t axis) {
  const Sizes& own = binding.sizes(input);
  if (own.empty() || own == Sizes{1}) return {};
  const Sizes& values = binding.sizes(0);
  const auto place = static_cast<size_t>(axis_of(axis, values.size()));
  if (own.size() != 1 || own[0] != values[place])
    fail("input {} has {} axes and {} values, expected one value or {}", input + 1, own.size(), own[0], values[place]);
  Sizes shape(values.size(), 1);
  shape[place] = own[0];
  return shape;
}

/// A scale and a zero point, each optional.
struct Steps {
  Sizes scale, zero;

  [[nodiscard]] at::Tensor scale_of(const Tensors& in) const { return in.at(1).reshape(scale).to(at::kFloat); }
  [[nodiscard]] static bool have_zero(const Tensors& in) { return in.size() > 2 && in[2].defined(); }
  [[nodiscard]] at::Tensor zero_of(const Tensors& in) const { return in.at(2).reshape(zero).to(at::kFloat); }
};

Steps steps_of(const Binding& binding) {
  if (binding.whole("block_size", 0) != 0) fail("block_size is not supported");
  const int64_t axis = binding.whole("axis", 1);
  return {shape_beside(binding, 1, axis), binding.has(2) ? shape_beside(binding, 2, axis) : Sizes{}};
}

/// Computes (q - zero) * scale.
Operation make_dequantize(const Binding& binding) {
  return one_output([steps = steps_of(binding)](Tensors& in) {
    at::Tensor value = in.at(0).to(at::kFloat);
    if (Steps::have_zero(in)) value = value - steps.zero_of(in);
    return value * steps.scale_of(in);
  });
}

/// Returns the range of a type. Throws Error.
std::pair<double, double> type_range(at::ScalarType type) {
  if (type == at::kByte) return {0, 255};
  if (type == at::kChar) return {-128, 127};
  if (type == at::kShort) return {-32768, 32767};
  fail("only 8-bit and signed 16-bit integers are supported");
}

/// Computes round(x / scale) + zero, half to even, within the type's range.
Operation make_quantize(const Binding& binding) {
  const int64_t stated = binding.whole("output_dtype", 0);
  const at::ScalarType usual = scalar_type(stated == 0 ? kUint8 : stated).value_or(at::ScalarType::Undefined);
  return one_output([steps = steps_of(binding), usual](Tensors& in) {
    const at::ScalarType type = Steps::have_zero(in) ? in[2].scalar_type() : usual;
    const auto [least, most] = type_range(type);
    at::Tensor places = (in.at(0).to(at::kFloat) / steps.scale_of(in)).round_();
    if (Steps::have_zero(in)) places += steps.zero_of(in);
    return places.clamp_(least, most).to(type);
  });
}

/// Quantises by the range of the values, which is extended to include 0: values, scale, zero point.
Operation make_dynamic_quantize(const Binding& /*binding*/) {
  return [](Tensors& in) {
    constexpr double kMost = 255;
    const at::Tensor values = in.at(0).to(at::kFloat);
    const at::Tensor least = values.min().clamp_max(0);
    const at::Tensor width = values.max().clamp_min(0) - least;
    const at::Tensor scale = at::where(width > 0, width / kMost, at::ones_like(width));
    const at::Tensor zero = (-least / scale).round_().clamp_(0, kMost);
    const at::Tensor places = (values / scale).round_().add_(zero).clamp_(0, kMost);
    return Tensors{places.to(at::kByte), scale, zero.to(at::kByte)};
  };
}

/// Computes q - zero as float32.
Operation make_centred(const Binding& binding) {
  const Sizes zero = binding.has(1) ? shape_beside(binding, 1, binding.whole("axis", 0)) : Sizes{};
  return one_output([zero](Tensors& in) {
    const at::Tensor value = in.at(0).to(at::kFloat);
    return in.size() > 1 && in[1].defined() ? value - in[1].reshape(zero).to(at::kFloat) : value;
  });
}

using Attributes = std::map<std::string, Attribute>;

Attribute whole(int64_t value) {
  Attribute attribute;
  attribute.whole = value;
  return attribute;
}

/// Operators that replace one; their intermediate results are named after its output.
class Expansion {
 public:
  explicit Expansion(const Node& of) : of_(of) {}

  [[nodiscard]] std::string input(size_t i) const { return i < of_.inputs.size() ? of_.inputs[i] : ""; }
  std::string add(const char* op, std::vector<std::string> inputs, Attributes attributes = {}) {
    const std::string output = of_.outputs.at(0) + "/" + kOwn + std::to_string(nodes_.size());
    nodes_.push_back({op, "", of_.name, std::move(inputs), {output}, std::move(attributes)});
    return output;
  }
  std::string centred(size_t value, size_t zero, int64_t axis) {
    return add(kCentred, {input(value), input(zero)}, {{"axis", whole(axis)}});
  }
  std::string scaled(const std::string& value, const std::string& scale, int64_t axis) {
    return add("DequantizeLinear", {value, scale}, {{"axis", whole(axis)}});
  }
  [[nodiscard]] const Attributes& attributes() const { return of_.attributes; }
  /// The last of them produces the output.
  std::vector<Node> finish() {
    nodes_.back().outputs = of_.outputs;
    return std::move(nodes_);
  }

 private:
  const Node& of_;
  std::vector<Node> nodes_;
};

constexpr int64_t kRows = -2, kColumns = -1;    // of a matrix
constexpr int64_t kFilters = 0, kChannels = 1;  // of weights and of maps

/// Inputs: a, b, their zero points.
void write_matmul_integer(Expansion& parts) {
  const std::string a = parts.centred(0, 2, kRows);
  const std::string product = parts.add("MatMul", {a, parts.centred(1, 3, kColumns)});
  parts.add("Cast", {product}, {{"to", whole(kInt32)}});
}

void write_conv_integer(Expansion& parts) {
  const std::string maps = parts.centred(0, 2, kChannels);
  const std::string sums = parts.add("Conv", {maps, parts.centred(1, 3, kFilters)}, parts.attributes());
  parts.add("Cast", {sums}, {{"to", whole(kInt32)}});
}

/// Inputs: a, its scale and zero point; b with its own; the scale and zero point of the output.
void write_matmul(Expansion& parts) {
  const std::string a = parts.centred(0, 2, kRows);
  const std::string product = parts.add("MatMul", {a, parts.centred(3, 5, kColumns)});
  const std::string values = parts.scaled(parts.scaled(product, parts.input(1), kRows), parts.input(4), kColumns);
  parts.add("QuantizeLinear", {values, parts.input(6), parts.input(7)});
}

/// Inputs: as above, with a bias last, in units of both scales.
void write_conv(Expansion& parts) {
  const std::string maps = parts.centred(0, 2, kChannels);
  std::vector<std::string> inputs = {maps, parts.centred(3, 5, kFilters)};
  if (!parts.input(8).empty()) inputs.push_back(parts.add(kCentred, {parts.input(8)}));
  const std::string sums = parts.add("Conv", inputs, parts.attributes());
  const std::string scale = parts.add("Mul", {parts.input(1), parts.input(4)});
  parts.add("QuantizeLinear", {parts.scaled(sums, scale, kChannels), parts.input(6), parts.input(7)});
}

struct Compound {
  const char* op;
  size_t inputs;  // least number of inputs
  void (*write)(Expansion& parts);
};

constexpr std::array<Compound, 4> kCompounds = {{{"MatMulInteger", 2, &write_matmul_integer},
                                                 {"ConvInteger", 2, &write_conv_integer},
                                                 {"QLinearMatMul", 8, &write_matmul},
                                                 {"QLinearConv", 8, &write_conv}}};

std::vector<Node> expanded(const Compound& compound, const Node& node) {
  check_inputs(node, compound.inputs);
  if (node.outputs.size() != 1) fail("{}: it has {} outputs, expected one", name_of(node), node.outputs.size());
  Expansion parts(node);
  compound.write(parts);
  return parts.finish();
}

}  // namespace

void write_out_quantised(Model& model) {
  std::vector<Node> nodes;
  for (Node& node : model.nodes) {
    const auto* found = std::find_if(kCompounds.begin(), kCompounds.end(),
                                     [&](const Compound& one) { return node.op == one.op && node.domain.empty(); });
    if (found == kCompounds.end()) {
      nodes.push_back(std::move(node));
      continue;
    }
    for (Node& part : expanded(*found, node)) nodes.push_back(std::move(part));
  }
  model.nodes = std::move(nodes);
}

bool quantises_by_range(const Model& model) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [](const Node& node) { return node.op == "DynamicQuantizeLinear"; });
}

const std::vector<Operator>& quantised_operators() {
  static const std::vector<Operator> kAll = {
      {"QuantizeLinear", &make_quantize, 2},
      {"DequantizeLinear", &make_dequantize, 2},
      {"DynamicQuantizeLinear", &make_dynamic_quantize},
      {kCentred, &make_centred},
  };
  return kAll;
}

}  // namespace protocom::onnx
