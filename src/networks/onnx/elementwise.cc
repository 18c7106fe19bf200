#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include "base/error.h"
#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/tensor_proto.h"

/// Operators on individual values.
namespace protocom::onnx {
namespace {

using Unary = at::Tensor (*)(const at::Tensor&);

template <Unary function>
Operation unary(const Binding& /*binding*/) {
  return one_output([](Tensors& in) { return function(in.at(0)); });
}

at::Tensor softsign(const at::Tensor& x) { return x / (x.abs() + 1); }
at::Tensor softplus(const at::Tensor& x) { return at::softplus(x); }

Operation make_identity(const Binding& /*binding*/) {
  return one_output([](Tensors& in) { return std::move(in.at(0)); });
}

using InPlace = at::Tensor& (*)(at::Tensor&);

/// Overwrites its input if that is not used elsewhere.
template <Unary function, InPlace own>
Operation unary_in_place(const Binding& /*binding*/) {
  return one_output([](Tensors& in) { return is_own(in.at(0)) ? own(in[0]) : function(in[0]); });
}

Operation make_dropout(const Binding& binding) {
  const size_t outputs = binding.outputs();
  return [outputs](Tensors& in) {
    Tensors out = {in.at(0)};
    if (outputs > 1) out.push_back(at::ones_like(in[0], at::kBool));
    return out;
  };
}

/// Reads the bounds as attributes up to operator set 10, as inputs from 11 on.
Operation make_clip(const Binding& binding) {
  const auto bound = [&](const char* name, size_t input) -> c10::optional<at::Scalar> {
    if (binding.has_attribute(name)) return at::Scalar(binding.number(name, 0));
    if (!binding.has(input)) return c10::nullopt;
    const std::vector<double> value = binding.values(input);
    if (value.size() != 1) fail("min and max: expected one number each");
    const bool whole = c10::isIntegralType(binding.constant(input).scalar_type(), true);
    return whole ? at::Scalar(binding.constant(input).to(at::kLong).item<int64_t>()) : at::Scalar(value.front());
  };
  const auto least = bound("min", 1);
  const auto most = bound("max", 2);
  return one_output([least, most](Tensors& in) {
    if (!least && !most) return in.at(0);
    return is_own(in.at(0)) ? in[0].clamp_(least, most) : at::clamp(in[0], least, most);
  });
}

Operation make_hard_sigmoid(const Binding& binding) {
  const double alpha = binding.number("alpha", 0.2);
  const double beta = binding.number("beta", 0.5);
  return one_output([alpha, beta](Tensors& in) { return (in.at(0) * alpha + beta).clamp_(0, 1); });
}

Operation make_leaky_relu(const Binding& binding) {
  const double slope = binding.number("alpha", 0.01);
  return one_output([slope](Tensors& in) { return at::leaky_relu(in.at(0), slope); });
}

Operation make_elu(const Binding& binding) {
  const double alpha = binding.number("alpha", 1);
  return one_output([alpha](Tensors& in) { return at::elu(in.at(0), alpha); });
}

Operation make_gelu(const Binding& binding) {
  const std::string approximate = binding.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") fail("approximate='{}' is not supported", excerpt(approximate));
  return one_output([approximate](Tensors& in) { return at::gelu(in.at(0), approximate); });
}

/// Returns the type of the attribute `to`: TensorProto.DataType; half precision is float32 here.
at::ScalarType cast_type(int64_t to) {
  constexpr int64_t kUnsignedLong = 13;
  const auto type = scalar_type(to);
  if (!type || to == kUnsignedLong) fail("a cast to ONNX's type {} is not supported", to);
  return *type == at::kHalf || *type == at::kBFloat16 ? at::kFloat : *type;
}

Operation make_cast(const Binding& binding) {
  const at::ScalarType type = cast_type(binding.whole("to", 1));
  return one_output([type](Tensors& in) { return in.at(0).to(type); });
}

Operation make_cast_like(const Binding& /*binding*/) {
  return one_output([](Tensors& in) { return in.at(0).to(in.at(1).scalar_type()); });
}

using Binary = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

void check_broadcast(const Binding& binding) {
  Sizes sizes = binding.sizes(0);
  for (size_t i = 1; i < binding.inputs(); ++i) sizes = broadcast(sizes, binding.sizes(i));
}

template <Binary function>
Operation binary(const Binding& binding) {
  check_broadcast(binding);
  return one_output([](Tensors& in) { return function(in.at(0), in.at(1)); });
}

/// Whether `a op= b` is `a op b`.
bool fits_into(const at::Tensor& a, const at::Tensor& b) {
  return is_own(a) && a.scalar_type() == b.scalar_type() && a.is_floating_point() &&
         at::IntArrayRef(at::infer_size(a.sizes(), b.sizes())) == a.sizes();
}

using Assign = at::Tensor& (at::Tensor::*)(const at::Tensor&);
enum class Commutes { kNo, kYes };

/// Overwrites an input if that gives the same.
template <Binary function, Assign own, Commutes commutes>
Operation binary_in_place(const Binding& binding) {
  check_broadcast(binding);
  return one_output([](Tensors& in) {
    if (fits_into(in.at(0), in.at(1))) return (in[0].*own)(in[1]);
    if (commutes == Commutes::kYes && fits_into(in[1], in[0])) return (in[1].*own)(in[0]);
    return function(in[0], in[1]);
  });
}

at::Tensor sum_of(const at::Tensor& a, const at::Tensor& b) { return a + b; }
at::Tensor difference(const at::Tensor& a, const at::Tensor& b) { return a - b; }

/// Refuses whole numbers that the processor cannot divide.
void check_divisor(const at::Tensor& a, const at::Tensor& b) {
  if (!c10::isIntegralType(b.scalar_type(), false) || !c10::isIntegralType(a.scalar_type(), false)) return;
  if (b.eq(0).any().item<bool>() || b.eq(-1).any().item<bool>()) fail("division of whole numbers by 0 or -1");
}

at::Tensor quotient(const at::Tensor& a, const at::Tensor& b) {
  check_divisor(a, b);
  return c10::isIntegralType(a.scalar_type(), false) ? at::div(a, b, "trunc") : at::div(a, b);
}

Operation make_mod(const Binding& binding) {
  check_broadcast(binding);
  const bool as_c = binding.whole("fmod", 0) != 0;
  return one_output([as_c](Tensors& in) {
    check_divisor(in.at(0), in.at(1));
    return as_c ? at::fmod(in[0], in[1]) : at::remainder(in[0], in[1]);
  });
}

Operation make_pow(const Binding& binding) {
  const at::Tensor exponent = binding.constant(1);
  const bool whole = exponent.defined() && c10::isIntegralType(exponent.scalar_type(), true);
  if (exponent.defined() && exponent.numel() == 1 && !whole) {
    const auto power = exponent.to(at::kDouble).item<double>();
    return one_output([power](Tensors& in) { return at::pow(in.at(0), power); });
  }
  check_broadcast(binding);
  return one_output([](Tensors& in) { return at::pow(in.at(0), in.at(1).to(in[0].scalar_type())); });
}

at::Tensor prelu(const at::Tensor& x, const at::Tensor& slope) { return at::where(x >= 0, x, x * slope); }

/// Combines any number of inputs.
template <Binary function>
Operation fold(const Binding& binding) {
  check_broadcast(binding);
  const bool mean = binding.node().op == "Mean";
  return one_output([mean](Tensors& in) {
    at::Tensor all = in.at(0);
    for (size_t i = 1; i < in.size(); ++i) all = function(all, in[i]);
    return mean ? all / static_cast<double>(in.size()) : all;
  });
}

Operation make_where(const Binding& binding) {
  check_broadcast(binding);
  return one_output([](Tensors& in) { return at::where(in.at(0).to(at::kBool), in.at(1), in.at(2)); });
}

}  // namespace

const std::vector<Operator>& elementwise_operators() {
  static const std::vector<Operator> kAll = {
      {"Identity", &make_identity},
      {"Relu", &unary_in_place<&at::relu, &at::relu_>},
      {"Sigmoid", &unary_in_place<&at::sigmoid, &at::sigmoid_>},
      {"Tanh", &unary<&at::tanh>},
      {"Erf", &unary<&at::erf>},
      {"Exp", &unary<&at::exp>},
      {"Log", &unary<&at::log>},
      {"Sqrt", &unary<&at::sqrt>},
      {"Reciprocal", &unary<&at::reciprocal>},
      {"Neg", &unary<&at::neg>},
      {"Abs", &unary<&at::abs>},
      {"Floor", &unary<&at::floor>},
      {"Ceil", &unary<&at::ceil>},
      {"Round", &unary<&at::round>},
      {"Sin", &unary<&at::sin>},
      {"Cos", &unary<&at::cos>},
      {"Not", &unary<&at::logical_not>},
      {"IsNaN", &unary<&at::isnan>},
      {"Mish", &unary<&at::mish>},
      {"Softsign", &unary<&softsign>},
      {"Softplus", &unary<&softplus>},
      {"Dropout", &make_dropout},
      {"Clip", &make_clip},
      {"HardSigmoid", &make_hard_sigmoid},
      {"HardSwish", &unary_in_place<&at::hardswish, &at::hardswish_>},
      {kSilu, &unary_in_place<&at::silu, &at::silu_>},
      {"LeakyRelu", &make_leaky_relu},
      {"Elu", &make_elu},
      {"Gelu", &make_gelu},
      {"Cast", &make_cast},
      {"CastLike", &make_cast_like, 2},
      {"Add", &binary_in_place<&sum_of, &at::Tensor::operator+=, Commutes::kYes>, 2},
      {"Sub", &binary_in_place<&difference, &at::Tensor::operator-=, Commutes::kNo>, 2},
      {"Mul", &binary_in_place<&at::mul, &at::Tensor::operator*=, Commutes::kYes>, 2},
      {"Div", &binary_in_place<&quotient, &at::Tensor::operator/=, Commutes::kNo>, 2},
      {"Mod", &make_mod, 2},
      {"Pow", &make_pow, 2},
      {"PRelu", &binary<&prelu>, 2},
      {"And", &binary<&at::logical_and>, 2},
      {"Or", &binary<&at::logical_or>, 2},
      {"Xor", &binary<&at::logical_xor>, 2},
      {"Equal", &binary<&at::eq>, 2},
      {"Less", &binary<&at::lt>, 2},
      {"Greater", &binary<&at::gt>, 2},
      {"LessOrEqual", &binary<&at::le>, 2},
      {"GreaterOrEqual", &binary<&at::ge>, 2},
      {"Min", &fold<&at::minimum>},
      {"Max", &fold<&at::maximum>},
      {"Sum", &fold<&sum_of>},
      {"Mean", &fold<&sum_of>},
      {"Where", &make_where, 3},
  };
  return kAll;
}

}  // namespace protocom::onnx
