#include <set>

#include "networks/tflite/detail/translator.h"

namespace protocom::tflite {
namespace {

using onnx::Attribute;

constexpr int8_t kSamePadding = 0;

Attribute whole(int64_t value) {
  Attribute attribute;
  attribute.whole = value;
  return attribute;
}

Attribute integers(std::vector<int64_t> values) {
  Attribute attribute;
  attribute.integers = std::move(values);
  return attribute;
}

Attribute text(const char* value) {
  Attribute attribute;
  attribute.text = value;
  return attribute;
}

const at::Tensor& constant_of(const Tensor& tensor, const char* what) {
  if (!tensor.constant.defined()) fail("{} are computed, expected constants", what);
  return tensor.constant;
}

void check_dims(const at::Tensor& tensor, int64_t dims, const char* what) {
  if (tensor.dim() != dims || tensor.numel() == 0) fail("{} have {} axes, expected {}", what, tensor.dim(), dims);
}

std::map<std::string, Attribute> window(const FlatTable& options, size_t dilation) {
  const int64_t stride_x = options.number<int32_t>(1, 1);
  const int64_t stride_y = options.number<int32_t>(2, 1);
  std::map<std::string, Attribute> attributes = {
      {"strides", integers({stride_y, stride_x})},
      {"auto_pad", text(options.number<int8_t>(0, kSamePadding) == kSamePadding ? "SAME_UPPER" : "VALID")}};
  if (dilation > 0)
    attributes["dilations"] =
        integers({options.number<int32_t>(dilation + 1, 1), options.number<int32_t>(dilation, 1)});
  return attributes;
}

void add_bias(Translator& to, const Operator& item, int64_t channels, std::vector<std::string>& inputs) {
  if (!to.has_input(item, 2)) return;
  const at::Tensor& bias = constant_of(to.input(item, 2), "biases");
  if (bias.numel() != channels) fail("there are {} biases for {} channels", bias.numel(), channels);
  inputs.push_back(to.constant(bias.to(at::kFloat).reshape({-1})));
}

void convolution(Translator& to, const Operator& item) {
  const at::Tensor& weight = constant_of(to.input(item, 1), "weights");  // [out, h, w, in]
  check_dims(weight, 4, "weights");
  std::vector<std::string> inputs = {to.value(to.input(item, 0)),
                                     to.constant(weight.to(at::kFloat).permute({0, 3, 1, 2}))};
  add_bias(to, item, weight.size(0), inputs);
  to.add_activated("Conv", inputs, to.output(item), item.options.number<int8_t>(3, 0), window(item.options, 4));
}

void depthwise(Translator& to, const Operator& item) {
  const at::Tensor& weight = constant_of(to.input(item, 1), "weights");  // [1, h, w, in * multiplier]
  check_dims(weight, 4, "weights");
  const int64_t multiplier = item.options.number<int32_t>(3, 1);
  if (multiplier < 1 || weight.size(3) % multiplier != 0 || weight.size(0) != 1)
    fail("the weights are not those of a depthwise convolution");
  std::vector<std::string> inputs = {to.value(to.input(item, 0)),
                                     to.constant(weight.to(at::kFloat).permute({3, 0, 1, 2}))};
  add_bias(to, item, weight.size(3), inputs);
  auto attributes = window(item.options, 5);
  attributes["group"] = whole(weight.size(3) / multiplier);
  to.add_activated("Conv", inputs, to.output(item), item.options.number<int8_t>(4, 0), std::move(attributes));
}

Translate pooling(const char* op) {
  return [op](Translator& to, const Operator& item) {
    auto attributes = window(item.options, 0);
    const int64_t width = item.options.number<int32_t>(3, 1);
    const int64_t height = item.options.number<int32_t>(4, 1);
    attributes["kernel_shape"] = integers({height, width});
    const auto& shape = to.input(item, 0).shape;
    to.add_activated(op, {to.value(to.input(item, 0))}, to.output(item), item.options.number<int8_t>(5, 0), attributes);
    if (shape.size() == 4 && shape[1] == height && shape[2] == width) to.model.feature = to.value(to.output(item));
  };
}

/// Returns the axis of [n, c, h, w] corresponding to one of [n, h, w, c].
int64_t moved_axis(int64_t axis, size_t dims) {
  if (axis < 0) axis += static_cast<int64_t>(dims);
  if (axis < 0 || axis >= static_cast<int64_t>(dims)) fail("axis {} is out of range: there are {}", axis, dims);
  constexpr int64_t kMoved[] = {0, 2, 3, 1};
  return dims == 4 ? kMoved[axis] : axis;
}

/// Returns an operand; constants combined with four-dimensional values are reordered.
std::string operand(Translator& to, const Tensor& tensor, size_t dims) {
  if (!tensor.constant.defined()) return to.value(tensor);
  at::Tensor value = tensor.constant.to(at::kFloat);
  if (dims == 4 && value.dim() == 4) value = value.permute({0, 3, 1, 2});
  if (dims == 4 && value.dim() == 1) value = value.view({-1, 1, 1});
  if (dims == 4 && value.dim() > 1 && value.dim() < 4)
    fail("a constant of {} axes beside maps is not supported", value.dim());
  return to.constant(value);
}

Translate arithmetic(const char* op) {
  return [op](Translator& to, const Operator& item) {
    const size_t dims = to.output(item).shape.size();
    to.add_activated(op, {operand(to, to.input(item, 0), dims), operand(to, to.input(item, 1), dims)}, to.output(item),
                     item.has_options ? item.options.number<int8_t>(0, 0) : int8_t{0});
  };
}

void mean(Translator& to, const Operator& item) {
  const size_t dims = to.input(item, 0).shape.size();
  const at::Tensor axes = constant_of(to.input(item, 1), "axes").to(at::kLong).reshape({-1});
  std::set<int64_t> moved;
  for (int64_t i = 0; i < axes.numel(); ++i) moved.insert(moved_axis(axes[i].item<int64_t>(), dims));
  const bool keep = item.has_options && item.options.number<int8_t>(0, 0) != 0;
  to.add("ReduceMean", {to.value(to.input(item, 0))}, to.value(to.output(item)),
         {{"axes", integers({moved.begin(), moved.end()})}, {"keepdims", whole(keep ? 1 : 0)}});
  if (dims == 4 && moved == std::set<int64_t>{2, 3}) to.model.feature = to.value(to.output(item));
}

/// Pads with zeros, listed for each axis as begin and end.
void pad(Translator& to, const Operator& item) {
  const at::Tensor listed = constant_of(to.input(item, 1), "paddings").to(at::kLong).contiguous();
  const size_t dims = to.input(item, 0).shape.size();
  if (listed.dim() != 2 || listed.size(0) != static_cast<int64_t>(dims) || listed.size(1) != 2)
    fail("expected two paddings for each axis");
  std::vector<int64_t> pads(2 * dims);
  for (size_t i = 0; i < dims; ++i) {
    const auto axis = static_cast<size_t>(moved_axis(static_cast<int64_t>(i), dims));
    pads[axis] = listed[static_cast<int64_t>(i)][0].item<int64_t>();
    pads[dims + axis] = listed[static_cast<int64_t>(i)][1].item<int64_t>();
  }
  to.add("Pad", {to.value(to.input(item, 0)), to.constant(at::tensor(pads, at::kLong))}, to.value(to.output(item)));
}

/// Transposes maps [n, c, h, w] to [n, h, w, c].
std::string in_order_of_tensorflow(Translator& to, const std::string& maps) {
  std::string moved = to.fresh();
  to.add("Transpose", {maps}, moved, {{"perm", integers({0, 2, 3, 1})}});
  return moved;
}

void fully_connected(Translator& to, const Operator& item) {
  const at::Tensor& weight = constant_of(to.input(item, 1), "weights");  // [out, in]
  check_dims(weight, 2, "weights");
  std::string flat = to.value(to.input(item, 0));
  const size_t dims = to.input(item, 0).shape.size();
  if (dims != 2) {
    const std::string rows = dims == 4 ? in_order_of_tensorflow(to, flat) : flat;
    flat = to.fresh();
    to.add("Flatten", {rows}, flat);
  }
  std::vector<std::string> inputs = {flat, to.constant(weight.to(at::kFloat))};
  add_bias(to, item, weight.size(0), inputs);
  to.add_activated("Gemm", inputs, to.output(item), item.options.number<int8_t>(0, 0), {{"transB", whole(1)}});
}

/// Reshapes maps to rows, in TensorFlow's order.
void reshape(Translator& to, const Operator& item) {
  const auto& from = to.input(item, 0).shape;
  const auto& shape = to.output(item).shape;
  if (shape.size() == 4 && from == shape)
    return to.add("Identity", {to.value(to.input(item, 0))}, to.value(to.output(item)));
  if (shape.size() == 4) fail("reshaping to maps is not supported");
  std::string rows = to.value(to.input(item, 0));
  if (from.size() == 4) rows = in_order_of_tensorflow(to, rows);
  to.add("Reshape", {rows, to.constant(at::tensor(shape, at::kLong))}, to.value(to.output(item)));
}

void concatenation(Translator& to, const Operator& item) {
  const size_t dims = to.output(item).shape.size();
  std::vector<std::string> inputs;
  for (size_t i = 0; i < item.inputs.size(); ++i) inputs.push_back(operand(to, to.input(item, i), dims));
  const int64_t axis = moved_axis(item.options.number<int32_t>(0, 0), dims);
  to.add_activated("Concat", inputs, to.output(item), item.options.number<int8_t>(1, 0), {{"axis", whole(axis)}});
}

Translate unary(const char* op) {
  return [op](Translator& to, const Operator& item) {
    to.add(op, {to.value(to.input(item, 0))}, to.value(to.output(item)));
  };
}

void softmax(Translator& to, const Operator& item) {
  to.add("Softmax", {to.value(to.input(item, 0))}, to.value(to.output(item)),
         {{"axis", whole(moved_axis(-1, to.input(item, 0).shape.size()))}});
}

void relu6(Translator& to, const Operator& item) {
  to.add_activated("Identity", {to.value(to.input(item, 0))}, to.output(item), kRelu6);
}

/// The operators by BuiltinOperator.
const std::map<int32_t, Translate>& operators() {
  static const std::map<int32_t, Translate> kAll = {{0, arithmetic("Add")},
                                                    {1, pooling("AveragePool")},
                                                    {2, &concatenation},
                                                    {3, &convolution},
                                                    {4, &depthwise},
                                                    {6, unary("Identity")},
                                                    {9, &fully_connected},
                                                    {14, unary("Sigmoid")},
                                                    {17, pooling("MaxPool")},
                                                    {18, arithmetic("Mul")},
                                                    {19, unary("Relu")},
                                                    {21, &relu6},
                                                    {22, &reshape},
                                                    {25, &softmax},
                                                    {28, unary("Tanh")},
                                                    {34, &pad},
                                                    {40, &mean},
                                                    {41, arithmetic("Sub")},
                                                    {43, &reshape},
                                                    {114, unary("Identity")},
                                                    {117, unary("HardSwish")}};
  return kAll;
}

}  // namespace

Translate translation_of(int32_t code) {
  const auto found = operators().find(code);
  return found != operators().end() ? found->second : nullptr;
}

}  // namespace protocom::tflite
