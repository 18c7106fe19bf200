#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "networks/recorded/detail/step.h"

/// LibTorch's operators as those of ONNX, operator set 17.
namespace protocom::recorded {
namespace {

using onnx::NodeAttributes;
using Integers = std::vector<int64_t>;

constexpr const char* kSelf = "self";

template <const char* op>
std::string write_unary(const Step& step) {
  return step.graph().node(op, {step.value(kSelf)});
}
constexpr char kRelu[] = "Relu", kSigmoid[] = "Sigmoid", kTanh[] = "Tanh", kErf[] = "Erf", kExp[] = "Exp",
               kSqrt[] = "Sqrt", kNeg[] = "Neg", kAbs[] = "Abs", kFloor[] = "Floor", kRound[] = "Round",
               kHardSwish[] = "HardSwish", kMul[] = "Mul", kDiv[] = "Div", kAdd[] = "Add", kSub[] = "Sub";

std::string same_value(const Step& step) { return step.value(kSelf); }

template <const char* op>
std::string write_binary(const Step& step) {
  return step.graph().node(op, {step.value(kSelf), step.value("other")});
}

/// Writes self + alpha x other, or self - alpha x other.
template <const char* op>
std::string write_sum(const Step& step) {
  std::string other = step.value("other");
  const double factor = step.number("alpha", 1);
  if (factor != 1) other = step.graph().node("Mul", {other, step.graph().number(factor)});
  return step.graph().node(op, {step.value(kSelf), other});
}

std::string write_silu(const Step& step) {
  const std::string x = step.value(kSelf);
  return step.graph().node("Mul", {x, step.graph().node("Sigmoid", {x})});
}

std::string write_leaky_relu(const Step& step) {
  return step.graph().node("LeakyRelu", {step.value(kSelf)}, {{"alpha", step.number("negative_slope", 0.01)}});
}

std::string write_hard_sigmoid(const Step& step) {
  return step.graph().node("HardSigmoid", {step.value(kSelf)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
}

/// Returns a bound of a clamp; empty: none.
std::string bound(const Step& step, const char* argument) {
  return step.has(argument) ? step.graph().numbers({static_cast<float>(step.number(argument))}, {}) : "";
}
std::string write_clamp(const Step& step) {
  return step.graph().node("Clip", {step.value(kSelf), bound(step, "min"), bound(step, "max")});
}
std::string write_least(const Step& step) { return step.graph().node("Clip", {step.value(kSelf), bound(step, "min")}); }
std::string write_hardtanh(const Step& step) {
  return step.graph().node("Clip", {step.value(kSelf), bound(step, "min_val"), bound(step, "max_val")});
}

/// Writes x / 2 (1 + erf(x / sqrt 2)), or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) instead (Hendrycks and Gimpel
/// 2016).
std::string write_gelu(const Step& step) {
  onnx::GraphWriter& graph = step.graph();
  const std::string x = step.value(kSelf);
  std::string inner;
  if (step.text("approximate", "none") == "tanh") {
    const std::string cube = graph.node("Mul", {graph.node("Mul", {x, x}), x});
    const std::string sum = graph.node("Add", {x, graph.node("Mul", {cube, graph.number(0.044715)})});
    inner = graph.node("Tanh", {graph.node("Mul", {sum, graph.number(std::sqrt(2 / M_PI))})});
  } else {
    inner = graph.node("Erf", {graph.node("Div", {x, graph.number(std::sqrt(2.0))})});
  }
  const std::string weight = graph.node("Add", {inner, graph.number(1)});
  return graph.node("Mul", {graph.node("Mul", {x, weight}), graph.number(0.5)});
}

std::string write_softmax(const Step& step) {
  return step.graph().node("Softmax", {step.value(kSelf)}, {{"axis", step.axis("dim")}});
}

std::string write_layer_norm(const Step& step) {
  std::vector<std::string> inputs = {step.value("input")};
  const Integers normalised = step.wholes("normalized_shape");
  inputs.push_back(step.has("weight") ? step.value("weight") : step.constant_of(at::ones(normalised)));
  if (step.has("bias")) inputs.push_back(step.value("bias"));
  return step.graph().node("LayerNormalization", inputs,
                           {{"axis", -static_cast<int64_t>(normalised.size())}, {"epsilon", step.number("eps", 1e-5)}});
}

std::string write_batch_norm(const Step& step) {
  if (step.truth("training")) fail("a batch norm by the batch's own statistics is not supported");
  const at::Tensor variance = step.constant("running_var");
  const auto or_all = [&](const char* argument, double value) {
    return step.has(argument) ? step.value(argument) : step.constant_of(at::full_like(variance, value));
  };
  return step.graph().node("BatchNormalization",
                           {step.value("input"), or_all("weight", 1), or_all("bias", 0), step.value("running_mean"),
                            step.constant_of(variance)},
                           {{"epsilon", step.number("eps", 1e-5)}});
}

/// Returns rows and columns of a window's argument, which may be one number for both; empty: `otherwise`.
Integers both(const Integers& stated, const Integers& otherwise) {
  if (stated.empty()) return otherwise;
  return stated.size() == 1 ? Integers{stated[0], stated[0]} : stated;
}

/// Returns the padding before rows and columns, and after them.
Integers pads_of(const Step& step) {
  const Integers padding = both(step.wholes("padding"), {0, 0});
  return {padding[0], padding[1], padding[0], padding[1]};
}

std::string write_convolution(const Step& step) {
  if (step.truth("transposed")) fail("a transposed convolution is not supported");
  std::vector<std::string> inputs = {step.value("input"), step.value("weight")};
  if (step.has("bias")) inputs.push_back(step.value("bias"));
  return step.graph().node("Conv", inputs,
                           {{"strides", both(step.wholes("stride"), {1, 1})},
                            {"pads", pads_of(step)},
                            {"dilations", both(step.wholes("dilation"), {1, 1})},
                            {"group", step.whole("groups", 1)}});
}

NodeAttributes window_attributes(const Step& step) {
  const Integers kernel = both(step.wholes("kernel_size"), {});
  return {{"kernel_shape", kernel},
          {"strides", both(step.wholes("stride"), kernel)},
          {"pads", pads_of(step)},
          {"ceil_mode", static_cast<int64_t>(step.truth("ceil_mode"))}};
}

std::string write_max_pool(const Step& step) {
  NodeAttributes window = window_attributes(step);
  window["dilations"] = both(step.wholes("dilation"), {1, 1});
  return step.graph().node("MaxPool", {step.value(kSelf)}, window);
}

std::string write_average_pool(const Step& step) {
  if (step.has("divisor_override")) fail("an average pooling with its own divisor is not supported");
  NodeAttributes window = window_attributes(step);
  window["count_include_pad"] = static_cast<int64_t>(step.truth("count_include_pad", true));
  return step.graph().node("AveragePool", {step.value(kSelf)}, window);
}

std::string write_adaptive_pool(const Step& step) {
  if (step.wholes("output_size") != Integers{1, 1})
    fail("an adaptive pooling to more than one position is not supported");
  return step.graph().node("GlobalAveragePool", {step.value(kSelf)});
}

/// Returns axes counted from the front; all if none is stated.
Integers axes_of(const Step& step) {
  const auto dims = static_cast<int64_t>(step.sizes(kSelf).size());
  Integers axes = step.wholes("dim");
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(dims));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis = axis < 0 ? axis + dims : axis;
  return axes;
}

std::string reduced(const Step& step, const char* op) {
  const NodeAttributes attributes = {{"axes", axes_of(step)},
                                     {"keepdims", static_cast<int64_t>(step.truth("keepdim"))}};
  return step.graph().node(op, {step.value(kSelf)}, attributes);
}
std::string write_mean(const Step& step) { return reduced(step, "ReduceMean"); }
std::string write_largest(const Step& step) { return reduced(step, "ReduceMax"); }

std::string write_sum_over(const Step& step) {
  return step.graph().node("ReduceSum", {step.value(kSelf), step.graph().integers(axes_of(step))},
                           {{"keepdims", static_cast<int64_t>(step.truth("keepdim"))}});
}

std::string write_length(const Step& step) {
  if (step.number("ord", 2) != 2) fail("a norm of an order other than 2 is not supported");
  return step.graph().node("Sqrt", {reduced(step, "ReduceSumSquare")});
}

std::string write_pow(const Step& step) {
  return step.graph().node("Pow", {step.value(kSelf), step.graph().number(step.number("exponent"))});
}

/// Writes x W' + b; the weights are stored transposed, as MatMul takes them.
std::string write_linear(const Step& step) {
  onnx::GraphWriter& graph = step.graph();
  const at::Tensor weight = step.constant("weight");
  const std::string product = graph.node("MatMul", {step.value("input"), step.constant_of(weight.t())});
  return step.has("bias") ? graph.node("Add", {product, step.value("bias")}) : product;
}

std::string write_product(const Step& step) {
  const char* second = step.has("other") ? "other" : "mat2";
  return step.graph().node("MatMul", {step.value(kSelf), step.value(second)});
}

std::string write_product_and_sum(const Step& step) {
  if (step.number("beta", 1) != 1 || step.number("alpha", 1) != 1)
    fail("a weighted sum with a product is not supported");
  const std::string product = step.graph().node("MatMul", {step.value("mat1"), step.value("mat2")});
  return step.graph().node("Add", {product, step.value(kSelf)});
}

/// Writes any operator that changes the shape.
std::string write_reshape(const Step& step) {
  Lengths target = step.result();
  const auto grows = [](int64_t length) { return length < 0; };
  const auto growing = std::count_if(target.begin(), target.end(), grows);
  if (growing == 1) {
    *std::find_if(target.begin(), target.end(), grows) = -1;
    return step.graph().node("Reshape", {step.value(kSelf), step.graph().integers(target)});
  }
  return step.graph().node("Reshape", {step.value(kSelf), step.shape(target)});
}

std::string transposed(const Step& step, const Integers& order) {
  return step.graph().node("Transpose", {step.value(kSelf)}, {{"perm", order}});
}

std::string write_transpose(const Step& step) {
  Integers order(step.sizes(kSelf).size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.at(static_cast<size_t>(step.axis("dim0"))), order.at(static_cast<size_t>(step.axis("dim1"))));
  return transposed(step, order);
}

std::string write_t(const Step& step) { return transposed(step, {1, 0}); }
std::string write_permute(const Step& step) {
  Integers order = step.wholes("dims");
  for (int64_t& axis : order) axis = axis < 0 ? axis + static_cast<int64_t>(order.size()) : axis;
  return transposed(step, order);
}

std::string write_concatenation(const Step& step) {
  const auto dims = static_cast<int64_t>(step.result().size());
  const int64_t stated = step.whole("dim");
  return step.graph().node("Concat", step.values("tensors"), {{"axis", stated < 0 ? stated + dims : stated}});
}

std::string sliced(const Step& step, int64_t axis, int64_t start, int64_t end, int64_t stride = 1) {
  onnx::GraphWriter& graph = step.graph();
  return graph.node("Slice", {step.value(kSelf), graph.integers({start}), graph.integers({end}), graph.integers({axis}),
                              graph.integers({stride})});
}

/// Writes a cyclic shift along each of the axes: what falls off the end comes first.
std::string write_roll(const Step& step) {
  onnx::GraphWriter& graph = step.graph();
  const Integers shifts = step.wholes("shifts"), axes = step.wholes("dims");
  if (axes.size() != shifts.size()) fail("a shift of all values is not supported");
  std::string x = step.value(kSelf);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(step.sizes(kSelf).size()) : axes[i];
    const int64_t length = step.sizes(kSelf).at(static_cast<size_t>(axis));
    if (length <= 0) fail("a shift along the batch is not supported");
    const int64_t cut = ((-shifts[i]) % length + length) % length;
    const auto part = [&](int64_t begin, int64_t end) {
      return graph.node("Slice", {x, graph.integers({begin}), graph.integers({end}), graph.integers({axis})});
    };
    if (cut != 0) x = graph.node("Concat", {part(cut, length), part(0, cut)}, {{"axis", axis}});
  }
  return x;
}

/// Writes a resize of maps to the result's height and width.
std::string write_bilinear(const Step& step) {
  const bool corners = step.truth("align_corners");
  return step.graph().node("Resize", {step.value(kSelf), "", "", step.shape(step.result())},
                           {{"mode", std::string("linear")},
                            {"coordinate_transformation_mode", std::string(corners ? "align_corners" : "half_pixel")}});
}

std::string write_slice(const Step& step) {
  return sliced(step, step.axis("dim"), step.whole("start", 0), step.whole("end", INT64_MAX), step.whole("step", 1));
}

std::string write_narrow(const Step& step) {
  const int64_t start = step.whole("start");
  return sliced(step, step.axis("dim"), start, start + step.whole("length"));
}

std::string write_select(const Step& step) {
  const int64_t axis = step.axis("dim"), length = step.sizes(kSelf).at(static_cast<size_t>(axis));
  int64_t place = step.whole("index");
  if (place < 0) place += length;
  onnx::GraphWriter& graph = step.graph();
  const std::string one = sliced(step, axis, place, place + 1);
  return graph.node("Squeeze", {one, graph.integers({axis})});
}

std::string write_expand(const Step& step) {
  return step.graph().node("Expand", {step.value(kSelf), step.shape(step.result())});
}

/// LibTorch lists pads from the last axis on, each with begin and end; ONNX has the begins of all axes, then the ends.
std::string write_pad(const Step& step) {
  const Integers stated = step.wholes("pad");
  const size_t dims = step.sizes(kSelf).size();
  Integers pads(2 * dims, 0);
  for (size_t i = 0; i < stated.size() / 2; ++i) {
    pads.at(dims - 1 - i) = stated[2 * i];
    pads.at(2 * dims - 1 - i) = stated[2 * i + 1];
  }
  onnx::GraphWriter& graph = step.graph();
  return graph.node("Pad", {step.value(kSelf), graph.integers(pads),
                            graph.numbers({static_cast<float>(step.number("value", 0))}, {})});
}

const std::map<std::string, Write>& of_numbers() {
  static const std::map<std::string, Write> kAll = {{"relu", &write_unary<kRelu>},
                                                    {"sigmoid", &write_unary<kSigmoid>},
                                                    {"tanh", &write_unary<kTanh>},
                                                    {"erf", &write_unary<kErf>},
                                                    {"exp", &write_unary<kExp>},
                                                    {"sqrt", &write_unary<kSqrt>},
                                                    {"neg", &write_unary<kNeg>},
                                                    {"abs", &write_unary<kAbs>},
                                                    {"floor", &write_unary<kFloor>},
                                                    {"round", &write_unary<kRound>},
                                                    {"hardswish", &write_unary<kHardSwish>},
                                                    {"hardsigmoid", &write_hard_sigmoid},
                                                    {"silu", &write_silu},
                                                    {"gelu", &write_gelu},
                                                    {"leaky_relu", &write_leaky_relu},
                                                    {"clamp", &write_clamp},
                                                    {"clamp_min", &write_least},
                                                    {"hardtanh", &write_hardtanh},
                                                    {"add", &write_sum<kAdd>},
                                                    {"sub", &write_sum<kSub>},
                                                    {"mul", &write_binary<kMul>},
                                                    {"div", &write_binary<kDiv>},
                                                    {"pow", &write_pow},
                                                    {"softmax", &write_softmax},
                                                    {"_softmax", &write_softmax},
                                                    {"layer_norm", &write_layer_norm},
                                                    {"batch_norm", &write_batch_norm},
                                                    {"_convolution", &write_convolution},
                                                    {"convolution", &write_convolution},
                                                    {"conv2d", &write_convolution},
                                                    {"max_pool2d", &write_max_pool},
                                                    {"avg_pool2d", &write_average_pool},
                                                    {"adaptive_avg_pool2d", &write_adaptive_pool},
                                                    {"mean", &write_mean},
                                                    {"amax", &write_largest},
                                                    {"sum", &write_sum_over},
                                                    {"linalg_vector_norm", &write_length},
                                                    {"linear", &write_linear},
                                                    {"matmul", &write_product},
                                                    {"mm", &write_product},
                                                    {"bmm", &write_product},
                                                    {"addmm", &write_product_and_sum}};
  return kAll;
}

const std::map<std::string, Write>& of_places() {
  static const std::map<std::string, Write> kAll = {{"view", &write_reshape},
                                                    {"reshape", &write_reshape},
                                                    {"_unsafe_view", &write_reshape},
                                                    {"flatten", &write_reshape},
                                                    {"unflatten", &write_reshape},
                                                    {"unsqueeze", &write_reshape},
                                                    {"squeeze", &write_reshape},
                                                    {"transpose", &write_transpose},
                                                    {"t", &write_t},
                                                    {"permute", &write_permute},
                                                    {"cat", &write_concatenation},
                                                    {"slice", &write_slice},
                                                    {"narrow", &write_narrow},
                                                    {"select", &write_select},
                                                    {"expand", &write_expand},
                                                    {"constant_pad_nd", &write_pad},
                                                    {"roll", &write_roll},
                                                    {"upsample_bilinear2d", &write_bilinear},
                                                    {"to", &same_value},
                                                    {"contiguous", &same_value},
                                                    {"clone", &same_value},
                                                    {"detach", &same_value},
                                                    {"alias", &same_value}};
  return kAll;
}

}  // namespace

Write writer_of(const std::string& name) {
  const std::string own = name.substr(name.rfind(':') + 1);
  if (name != "aten::" + own) return nullptr;
  for (const auto* group : {&of_numbers(), &of_places()}) {
    if (const auto found = group->find(own); found != group->end()) return found->second;
  }
  return nullptr;
}

}  // namespace protocom::recorded
