#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "nn/tflite/flat_table.h"
#include "nn/tflite/model.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"

/// Fields have the numbers of https://github.com/tensorflow/tensorflow/blob/master/tensorflow/lite/schema/schema.fbs.
namespace protocom::tflite {
namespace {

using onnx::Attribute;
using onnx::Node;

constexpr int64_t kOpset = 13;
constexpr int8_t kSamePadding = 0;
constexpr size_t kMostDims = 8;

enum Activation : int8_t { kNone = 0, kRelu = 1, kRelu1 = 2, kRelu6 = 3, kTanh = 4 };

/// TensorType.
at::ScalarType scalar_type(int8_t type) {
  switch (type) {
    case 0:
      return at::kFloat;
    case 1:
      return at::kHalf;
    case 2:
      return at::kInt;
    case 3:
      return at::kByte;
    case 4:
      return at::kLong;
    case 6:
      return at::kBool;
    case 7:
      return at::kShort;
    case 9:
      return at::kChar;
    default:
      fail("it has a tensor of TensorFlow's type {}, which is not read", type);
  }
}

/// A tensor of the file.
struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  at::ScalarType type = at::kFloat;
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  int64_t axis = 0;     ///< of the scales, where there are several
  at::Tensor constant;  ///< as TensorFlow has it, float32 where it was quantised; undefined: computed
};

at::Tensor raw_tensor(const Tensor& tensor, std::string_view bytes) {
  int64_t needed = static_cast<int64_t>(c10::elementSize(tensor.type));
  for (const int64_t size : tensor.shape) {
    if (size < 0 || __builtin_mul_overflow(needed, size, &needed))
      fail("tensor '{}' is too large", excerpt(tensor.name));
  }
  if (needed != static_cast<int64_t>(bytes.size()))
    fail("tensor '{}' has {} bytes, its shape needs {}; the file is damaged", excerpt(tensor.name), bytes.size(),
         needed);
  at::Tensor raw = at::empty(tensor.shape, tensor.type);
  if (needed > 0) std::memcpy(raw.data_ptr(), bytes.data(), bytes.size());
  return raw;
}

/// (q - zero) * scale, of the whole or for each place of an axis.
at::Tensor dequantised(const Tensor& tensor, const at::Tensor& raw) {
  if (raw.scalar_type() == at::kHalf) return raw.to(at::kFloat);
  if (tensor.scales.empty()) return raw;
  std::vector<int64_t> sizes(tensor.shape.size(), 1);
  const auto count = static_cast<int64_t>(tensor.scales.size());
  if (count > 1) {
    if (tensor.axis < 0 || tensor.axis >= static_cast<int64_t>(sizes.size()) ||
        tensor.shape[static_cast<size_t>(tensor.axis)] != count)
      fail("tensor '{}' has {} scales that do not fit its shape", excerpt(tensor.name), count);
    sizes[static_cast<size_t>(tensor.axis)] = count;
  }
  if (!tensor.zeros.empty() && tensor.zeros.size() != tensor.scales.size())
    fail("tensor '{}' has {} scales and {} zeros", excerpt(tensor.name), count, tensor.zeros.size());
  const at::Tensor scale = at::tensor(tensor.scales, at::kFloat).view(sizes);
  const at::Tensor zero =
      tensor.zeros.empty() ? at::zeros({1}, at::kLong) : at::tensor(tensor.zeros, at::kLong).view(sizes);
  return (raw.to(at::kDouble) - zero).to(at::kFloat) * scale;
}

Tensor read_tensor(const FlatTable& table, const std::vector<FlatTable>& buffers, size_t number) {
  Tensor tensor;
  tensor.name = table.text(3);
  if (tensor.name.empty()) tensor.name = "tensor " + std::to_string(number);
  for (const int32_t size : table.numbers<int32_t>(0)) tensor.shape.push_back(size);
  if (tensor.shape.size() > kMostDims) fail("tensor '{}' has {} sizes", excerpt(tensor.name), tensor.shape.size());
  tensor.type = scalar_type(table.number<int8_t>(1, 0));
  if (table.has(4)) {
    const FlatTable quantisation = table.table(4);
    tensor.scales = quantisation.numbers<float>(2);
    tensor.zeros = quantisation.numbers<int64_t>(3);
    tensor.axis = quantisation.number<int32_t>(6, 0);
  }
  const auto buffer = table.number<uint32_t>(2, 0);
  if (buffer >= buffers.size()) fail("tensor '{}' lies in part {} of {}", excerpt(tensor.name), buffer, buffers.size());
  const std::string_view bytes = buffers[buffer].bytes(0);
  if (!bytes.empty()) tensor.constant = dequantised(tensor, raw_tensor(tensor, bytes));
  return tensor;
}

Attribute whole(int64_t value) {
  Attribute attribute;
  attribute.whole = value;
  return attribute;
}

Attribute wholes(std::vector<int64_t> values) {
  Attribute attribute;
  attribute.wholes = std::move(values);
  return attribute;
}

Attribute text(const char* value) {
  Attribute attribute;
  attribute.text = value;
  return attribute;
}

/// One operator of the file.
struct Operator {
  std::vector<int32_t> inputs, outputs;
  bool has_options = false;
  FlatTable options;  // the operator's own table where it has none
};

/// Builds the ONNX model. Values of four sizes are [n, c, h, w] there and [n, h, w, c] in the file.
class Translator {
 public:
  explicit Translator(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) { model.opset = kOpset; }

  onnx::Model model;
  std::string pooled;

  [[nodiscard]] const Tensor& tensor(int32_t number) const {
    if (number < 0 || static_cast<size_t>(number) >= tensors_.size())
      fail("an operator takes tensor {} of {}", number, tensors_.size());
    return tensors_[static_cast<size_t>(number)];
  }
  [[nodiscard]] const Tensor& input(const Operator& item, size_t i) const {
    if (i >= item.inputs.size()) fail("an operator has {} inputs", item.inputs.size());
    return tensor(item.inputs[i]);
  }
  [[nodiscard]] bool has_input(const Operator& item, size_t i) const {
    return i < item.inputs.size() && item.inputs[i] >= 0;
  }
  [[nodiscard]] const Tensor& output(const Operator& item) const {
    if (item.outputs.size() != 1) fail("an operator has {} outputs, expected one", item.outputs.size());
    return tensor(item.outputs.front());
  }
  [[nodiscard]] static std::string value(const Tensor& tensor) { return tensor.name; }

  /// The name of a constant of the model.
  std::string constant(const at::Tensor& values) {
    const std::string name = "constant " + std::to_string(model.constants.size());
    model.constants[name] = values.contiguous();
    return name;
  }
  /// A value that is not to be called as anything in the file.
  std::string fresh() { return "value " + std::to_string(++fresh_); }

  void add(const char* op, std::vector<std::string> inputs, const std::string& result,
           std::map<std::string, Attribute> attributes = {}) {
    model.nodes.push_back({op, "", result, std::move(inputs), {result}, std::move(attributes)});
  }
  /// The same, with what comes behind it in one operator of TensorFlow: the activation, and the range of the numbers
  /// that a quantised network keeps its result in.
  void add_activated(const char* op, std::vector<std::string> inputs, const Tensor& result, int8_t activation,
                     std::map<std::string, Attribute> attributes = {}) {
    const Range range = range_of(result, activation);
    const bool bounded = std::isfinite(range.most);
    if (!bounded && activation == kNone) return add(op, std::move(inputs), result.name, std::move(attributes));
    const std::string before = fresh();
    add(op, std::move(inputs), before, std::move(attributes));
    if (activation == kTanh) return add("Tanh", {before}, result.name);
    if (!bounded) return add("Relu", {before}, result.name);
    const auto bound = [&](double value) { return constant(at::scalar_tensor(value, at::kFloat)); };
    add("Clip", {before, bound(range.least), bound(range.most)}, result.name);
  }

 private:
  struct Range {
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
  };

  static Range range_of(const Tensor& result, int8_t activation) {
    Range range;
    switch (activation) {
      case kNone:
      case kTanh:
        break;
      case kRelu:
        range.least = 0;
        break;
      case kRelu1:
        range = {-1, 1};
        break;
      case kRelu6:
        range = {0, 6};
        break;
      default:
        fail("an operator has the activation {}, which is not read", activation);
    }
    const bool quantised = (result.type == at::kByte || result.type == at::kChar) && result.scales.size() == 1;
    if (!quantised) return range;
    const double scale = result.scales[0];
    const double zero = result.zeros.empty() ? 0 : static_cast<double>(result.zeros[0]);
    const double first = result.type == at::kByte ? 0 : -128;
    range.least = std::max(range.least, (first - zero) * scale);
    range.most = std::min(range.most, (first + 255 - zero) * scale);
    return range;
  }

  std::vector<Tensor> tensors_;
  int64_t fresh_ = 0;
};

const at::Tensor& constant_of(const Tensor& tensor, const char* what) {
  if (!tensor.constant.defined()) fail("{} are computed, expected constants", what);
  return tensor.constant;
}

void check_dims(const at::Tensor& tensor, int64_t dims, const char* what) {
  if (tensor.dim() != dims || tensor.numel() == 0) fail("{} have {} sizes, expected {}", what, tensor.dim(), dims);
}

std::map<std::string, Attribute> window(const FlatTable& options, size_t dilation) {
  const int64_t stride_x = options.number<int32_t>(1, 1);
  const int64_t stride_y = options.number<int32_t>(2, 1);
  std::map<std::string, Attribute> attributes = {
      {"strides", wholes({stride_y, stride_x})},
      {"auto_pad", text(options.number<int8_t>(0, kSamePadding) == kSamePadding ? "SAME_UPPER" : "VALID")}};
  if (dilation > 0)
    attributes["dilations"] = wholes({options.number<int32_t>(dilation + 1, 1), options.number<int32_t>(dilation, 1)});
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
    fail("its weights are not of a convolution of each channel");
  std::vector<std::string> inputs = {to.value(to.input(item, 0)),
                                     to.constant(weight.to(at::kFloat).permute({3, 0, 1, 2}))};
  add_bias(to, item, weight.size(3), inputs);
  auto attributes = window(item.options, 5);
  attributes["group"] = whole(weight.size(3) / multiplier);
  to.add_activated("Conv", inputs, to.output(item), item.options.number<int8_t>(4, 0), std::move(attributes));
}

void pooling(Translator& to, const Operator& item, const char* op) {
  auto attributes = window(item.options, 0);
  const int64_t width = item.options.number<int32_t>(3, 1);
  const int64_t height = item.options.number<int32_t>(4, 1);
  attributes["kernel_shape"] = wholes({height, width});
  const auto& shape = to.input(item, 0).shape;
  to.add_activated(op, {to.value(to.input(item, 0))}, to.output(item), item.options.number<int8_t>(5, 0), attributes);
  if (shape.size() == 4 && shape[1] == height && shape[2] == width) to.pooled = to.value(to.output(item));
}

void average_pool(Translator& to, const Operator& item) { pooling(to, item, "AveragePool"); }
void max_pool(Translator& to, const Operator& item) { pooling(to, item, "MaxPool"); }

/// The axis of [n, c, h, w] that is this one of [n, h, w, c].
int64_t moved_axis(int64_t axis, size_t dims) {
  if (axis < 0) axis += static_cast<int64_t>(dims);
  if (axis < 0 || axis >= static_cast<int64_t>(dims)) fail("an axis is {} of {}", axis, dims);
  constexpr int64_t kMoved[] = {0, 2, 3, 1};
  return dims == 4 ? kMoved[axis] : axis;
}

/// Constants beside values of four sizes get their order.
std::string operand(Translator& to, const Tensor& tensor, size_t dims) {
  if (!tensor.constant.defined()) return to.value(tensor);
  at::Tensor value = tensor.constant.to(at::kFloat);
  if (dims == 4 && value.dim() == 4) value = value.permute({0, 3, 1, 2});
  if (dims == 4 && value.dim() == 1) value = value.view({-1, 1, 1});
  if (dims == 4 && value.dim() > 1 && value.dim() < 4)
    fail("a constant of {} sizes beside maps is not read", value.dim());
  return to.constant(value);
}

void arithmetic(Translator& to, const Operator& item, const char* op) {
  const size_t dims = to.output(item).shape.size();
  to.add_activated(op, {operand(to, to.input(item, 0), dims), operand(to, to.input(item, 1), dims)}, to.output(item),
                   item.has_options ? item.options.number<int8_t>(0, 0) : int8_t{0});
}
void add(Translator& to, const Operator& item) { arithmetic(to, item, "Add"); }
void sub(Translator& to, const Operator& item) { arithmetic(to, item, "Sub"); }
void mul(Translator& to, const Operator& item) { arithmetic(to, item, "Mul"); }

void mean(Translator& to, const Operator& item) {
  const size_t dims = to.input(item, 0).shape.size();
  const at::Tensor axes = constant_of(to.input(item, 1), "axes").to(at::kLong).reshape({-1});
  std::set<int64_t> moved;
  for (int64_t i = 0; i < axes.numel(); ++i) moved.insert(moved_axis(axes[i].item<int64_t>(), dims));
  const bool keep = item.has_options && item.options.number<int8_t>(0, 0) != 0;
  to.add("ReduceMean", {to.value(to.input(item, 0))}, to.value(to.output(item)),
         {{"axes", wholes({moved.begin(), moved.end()})}, {"keepdims", whole(keep ? 1 : 0)}});
  if (dims == 4 && moved == std::set<int64_t>{2, 3}) to.pooled = to.value(to.output(item));
}

/// Zeros around images, listed for each axis as begin and end.
void pad(Translator& to, const Operator& item) {
  const at::Tensor listed = constant_of(to.input(item, 1), "paddings").to(at::kLong).contiguous();
  const size_t dims = to.input(item, 0).shape.size();
  if (listed.dim() != 2 || listed.size(0) != static_cast<int64_t>(dims) || listed.size(1) != 2)
    fail("paddings are not two for each axis");
  std::vector<int64_t> pads(2 * dims);
  for (size_t i = 0; i < dims; ++i) {
    const auto axis = static_cast<size_t>(moved_axis(static_cast<int64_t>(i), dims));
    pads[axis] = listed[static_cast<int64_t>(i)][0].item<int64_t>();
    pads[dims + axis] = listed[static_cast<int64_t>(i)][1].item<int64_t>();
  }
  to.add("Pad", {to.value(to.input(item, 0)), to.constant(at::tensor(pads, at::kLong))}, to.value(to.output(item)));
}

void fully_connected(Translator& to, const Operator& item) {
  const at::Tensor& weight = constant_of(to.input(item, 1), "weights");  // [out, in]
  check_dims(weight, 2, "weights");
  std::string flat = to.value(to.input(item, 0));
  if (to.input(item, 0).shape.size() != 2) {
    flat = to.fresh();
    to.add("Flatten", {to.value(to.input(item, 0))}, flat);
  }
  std::vector<std::string> inputs = {flat, to.constant(weight.to(at::kFloat))};
  add_bias(to, item, weight.size(0), inputs);
  to.add_activated("Gemm", inputs, to.output(item), item.options.number<int8_t>(0, 0), {{"transB", whole(1)}});
}

/// Of maps to rows, in TensorFlow's order.
void reshape(Translator& to, const Operator& item) {
  const auto& from = to.input(item, 0).shape;
  const auto& shape = to.output(item).shape;
  if (shape.size() == 4 && from == shape)
    return to.add("Identity", {to.value(to.input(item, 0))}, to.value(to.output(item)));
  if (shape.size() == 4) fail("maps are made of other shapes, which is not read");
  std::string rows = to.value(to.input(item, 0));
  if (from.size() == 4) {
    rows = to.fresh();
    to.add("Transpose", {to.value(to.input(item, 0))}, rows, {{"perm", wholes({0, 2, 3, 1})}});
  }
  to.add("Reshape", {rows, to.constant(at::tensor(shape, at::kLong))}, to.value(to.output(item)));
}

void concatenation(Translator& to, const Operator& item) {
  const size_t dims = to.output(item).shape.size();
  std::vector<std::string> inputs;
  for (size_t i = 0; i < item.inputs.size(); ++i) inputs.push_back(operand(to, to.input(item, i), dims));
  const int64_t axis = moved_axis(item.options.number<int32_t>(0, 0), dims);
  to.add_activated("Concat", inputs, to.output(item), item.options.number<int8_t>(1, 0), {{"axis", whole(axis)}});
}

template <const char* const& op>
void unary(Translator& to, const Operator& item) {
  to.add(op, {to.value(to.input(item, 0))}, to.value(to.output(item)));
}

void softmax(Translator& to, const Operator& item) {
  to.add("Softmax", {to.value(to.input(item, 0))}, to.value(to.output(item)),
         {{"axis", whole(moved_axis(-1, to.input(item, 0).shape.size()))}});
}

void relu6(Translator& to, const Operator& item) {
  to.add_activated("Identity", {to.value(to.input(item, 0))}, to.output(item), kRelu6);
}

constexpr const char* kIdentity = "Identity";
constexpr const char* kReluName = "Relu";
constexpr const char* kSigmoid = "Sigmoid";
constexpr const char* kHardSwish = "HardSwish";
constexpr const char* kTanhName = "Tanh";

using Translate = void (*)(Translator&, const Operator&);

/// By BuiltinOperator.
const std::map<int32_t, Translate>& operators() {
  static const std::map<int32_t, Translate> kAll = {{0, &add},
                                                    {1, &average_pool},
                                                    {2, &concatenation},
                                                    {3, &convolution},
                                                    {4, &depthwise},
                                                    {6, &unary<kIdentity>},
                                                    {9, &fully_connected},
                                                    {14, &unary<kSigmoid>},
                                                    {17, &max_pool},
                                                    {18, &mul},
                                                    {19, &unary<kReluName>},
                                                    {21, &relu6},
                                                    {22, &reshape},
                                                    {25, &softmax},
                                                    {28, &unary<kTanhName>},
                                                    {34, &pad},
                                                    {40, &mean},
                                                    {41, &sub},
                                                    {43, &reshape},
                                                    {114, &unary<kIdentity>},
                                                    {117, &unary<kHardSwish>}};
  return kAll;
}

int32_t code_of(const FlatTable& table) {
  const int32_t old{table.number<int8_t>(0, 0)};
  return std::max(old, table.number<int32_t>(3, 0));
}

/// What becomes of pixels, as far as the numbers of the input say it: q = 255 x is (q - zero) * scale.
Preprocessing stated(const Tensor& input) {
  Preprocessing images;
  const auto& shape = input.shape;
  if (shape.size() != 4 || shape[3] != 3 || shape[1] != shape[2] || shape[1] < 1)
    fail("its input has {} sizes, expected square images of three channels", shape.size());
  if (input.type != at::kByte && input.type != at::kChar) return images;
  if (input.scales.size() != 1 || !(input.scales[0] > 0)) return images;
  const double zero =
      input.zeros.empty() ? 0 : static_cast<double>(input.zeros[0]) + (input.type == at::kChar ? 128 : 0);
  images.image_size = shape[1];
  images.mean.assign(3, zero / 255);
  images.std.assign(3, 1 / (255 * static_cast<double>(input.scales[0])));
  return images;
}

TranslatedModel translate(const FlatTable& root) {
  const std::vector<FlatTable> graphs = root.tables(2);
  if (graphs.size() != 1) fail("it has {} graphs, expected one", graphs.size());
  const std::vector<FlatTable> buffers = root.tables(4);
  std::vector<Tensor> tensors;
  int64_t elements = 0;
  for (const FlatTable& table : graphs[0].tables(0)) {
    tensors.push_back(read_tensor(table, buffers, tensors.size()));
    if (tensors.back().constant.defined()) elements += tensors.back().constant.numel();
    if (elements > int64_t{1} << 30) fail("its tensors have more than {} values", int64_t{1} << 30);
  }
  std::set<std::string> names;
  for (Tensor& tensor : tensors) {
    while (!names.insert(tensor.name).second) tensor.name += "'";
  }
  const std::vector<int32_t> inputs = graphs[0].numbers<int32_t>(1);
  const std::vector<int32_t> outputs = graphs[0].numbers<int32_t>(2);
  if (inputs.size() != 1 || outputs.empty())
    fail("it has {} inputs and {} outputs, expected one image", inputs.size(), outputs.size());
  const std::vector<FlatTable> codes = root.tables(1);
  Translator to(std::move(tensors));
  const Tensor& images = to.tensor(inputs[0]);
  TranslatedModel result;
  result.stated = stated(images);
  to.model.inputs = {{to.value(images), {images.shape[0], 3, images.shape[1], images.shape[2]}}};
  for (const FlatTable& table : graphs[0].tables(3)) {
    const auto index = table.number<uint32_t>(0, 0);
    if (index >= codes.size()) fail("an operator is of kind {} of {}", index, codes.size());
    const int32_t code = code_of(codes[index]);
    const auto found = operators().find(code);
    if (found == operators().end())
      fail("it has the operator {} of TensorFlow Lite{}, which is not among those of image networks that are read",
           code, codes[index].has(1) ? fmt::format(" ('{}')", excerpt(codes[index].text(1))) : "");
    const bool has_options = table.has(4);
    found->second(
        to, {table.numbers<int32_t>(1), table.numbers<int32_t>(2), has_options, has_options ? table.table(4) : table});
  }
  for (const int32_t number : outputs) to.model.outputs.push_back({to.value(to.tensor(number)), {}});
  result.model = std::move(to.model);
  result.pooled = to.pooled;
  return result;
}

}  // namespace

bool looks_like_tflite(std::string_view bytes) {
  return bytes.substr(0, 8).size() == 8 && bytes.substr(4, 4) == "TFL3";
}

TranslatedModel read_model(const std::filesystem::path& path) {
  return reading(path, [&] {
    const MappedFile file(path);
    TranslatedModel read = translate(FlatTable::root(file.bytes()));
    onnx::check_order(read.model);
    return read;
  });
}

}  // namespace protocom::tflite
