#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "networks/onnx/detail/attention.h"
#include "networks/onnx/detail/einsum.h"
#include "networks/onnx/detail/operators.h"

/// Operators that reduce many values to one: sums over axes, matrix products, softmax.
namespace protocom::onnx {
namespace {

using Reduction = at::Tensor (*)(const at::Tensor&, at::IntArrayRef axes, bool keep);

at::Tensor mean(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return x.mean(axes, keep); }
at::Tensor sum(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return x.sum(axes, keep); }
at::Tensor largest(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return at::amax(x, axes, keep); }
at::Tensor least(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return at::amin(x, axes, keep); }
at::Tensor length(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return x.square().sum(axes, keep).sqrt(); }
at::Tensor squares(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return x.square().sum(axes, keep); }
at::Tensor absolute(const at::Tensor& x, at::IntArrayRef axes, bool keep) { return x.abs().sum(axes, keep); }

/// Reduces the last axis first, since at::prod takes one at a time.
at::Tensor product(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  Sizes order = axes.vec();
  std::sort(order.rbegin(), order.rend());
  at::Tensor result = x;
  for (const int64_t axis : order) result = at::prod(result, axis, keep);
  return result;
}

template <Reduction function>
Operation reduce(const Binding& binding) {
  const size_t dims = binding.sizes(0).size();
  const bool keep = binding.whole("keepdims", 1) != 0;
  Sizes axes = binding.integers_or_input("axes", 1, {});
  if (axes.empty() && binding.whole("noop_with_empty_axes", 0) != 0)
    return one_output([](Tensors& in) { return std::move(in.at(0)); });
  if (axes.empty()) {
    axes.resize(dims);
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis = axis_of(axis, dims);
  return one_output([axes, keep](Tensors& in) { return function(in.at(0), axes, keep); });
}

Operation make_argmax(const Binding& binding) {
  const int64_t axis = axis_of(binding.whole("axis", 0), binding.sizes(0).size());
  const bool keep = binding.whole("keepdims", 1) != 0;
  if (binding.whole("select_last_index", 0) != 0) fail("select_last_index=1 is not supported");
  return one_output([axis, keep](Tensors& in) { return in.at(0).argmax(axis, keep); });
}

/// Up to operator set 12, over all axes from `axis` on, flattened.
Operation make_softmax(const Binding& binding) {
  const bool old = binding.opset() < 13;
  const auto dims = static_cast<int64_t>(binding.sizes(0).size());
  const int64_t axis = axis_of(binding.whole("axis", old ? 1 : -1), binding.sizes(0).size());
  const bool log = binding.node().op == "LogSoftmax";
  const auto function = [log](const at::Tensor& x, int64_t over) {
    return log ? at::log_softmax(x, over) : at::softmax(x, over);
  };
  if (!old || axis == dims - 1) return one_output([axis, function](Tensors& in) { return function(in.at(0), axis); });
  return one_output([axis, function](Tensors& in) {
    const at::Tensor& x = in.at(0);
    return function(x.flatten(axis), axis).reshape(x.sizes());
  });
}

Sizes but_last(const Sizes& sizes, size_t count) {
  return {sizes.begin(), sizes.end() - static_cast<int64_t>(std::min(count, sizes.size()))};
}

void check_product(const Sizes& a, const Sizes& b) {
  if (a.empty() || b.empty()) fail("expected a matrix, found a single number");
  Sizes sizes = broadcast(but_last(a, 2), but_last(b, 2));
  if (a.size() > 1) sizes.push_back(a[a.size() - 2]);
  if (b.size() > 1) sizes.push_back(b.back());
  check_elements(sizes);
}

Operation make_matmul(const Binding& binding) {
  check_product(binding.sizes(0), binding.sizes(1));
  return one_output([](Tensors& in) { return at::matmul(in.at(0), in.at(1)); });
}

/// Computes alpha A B + beta C, each of A and B transposed by its attribute.
Operation make_gemm(const Binding& binding) {
  const bool turn_a = binding.whole("transA", 0) != 0;
  const bool turn_b = binding.whole("transB", 0) != 0;
  const double alpha = binding.number("alpha", 1);
  const double beta = binding.number("beta", 1);
  if (binding.sizes(0).size() != 2 || binding.sizes(1).size() != 2) fail("inputs: expected matrices");
  check_elements({binding.sizes(0)[turn_a ? 1 : 0], binding.sizes(1)[turn_b ? 0 : 1]});
  return one_output([=](Tensors& in) {
    const at::Tensor a = turn_a ? in.at(0).t() : in.at(0);
    const at::Tensor b = turn_b ? in.at(1).t() : in.at(1);
    if (in.size() > 2 && in[2].defined()) return at::addmm(in[2], a, b, beta, alpha);
    const at::Tensor result = at::mm(a, b);
    return alpha == 1 ? result : result * alpha;
  });
}

/// Computes x W + b with W [in, out], as fused by `simplify` from a product and a sum.
Operation make_linear(const Binding& binding) {
  const at::Tensor weight = binding.weight(1).t().contiguous();
  const at::Tensor bias = binding.weight(2);
  Sizes sizes = binding.sizes(0);
  if (!sizes.empty()) sizes.back() = bias.numel();
  check_elements(sizes);
  return one_output([weight, bias](Tensors& in) { return at::linear(in.at(0), weight, bias); });
}

}  // namespace

const std::vector<Operator>& reduction_operators() {
  static const std::vector<Operator> kAll = {
      {"ReduceMean", &reduce<&mean>},    {"ReduceSum", &reduce<&sum>},
      {"ReduceMax", &reduce<&largest>},  {"ReduceMin", &reduce<&least>},
      {"ReduceProd", &reduce<&product>}, {"ReduceL1", &reduce<&absolute>},
      {"ReduceL2", &reduce<&length>},    {"ReduceSumSquare", &reduce<&squares>},
      {"ArgMax", &make_argmax},          {"Softmax", &make_softmax},
      {"LogSoftmax", &make_softmax},     {"MatMul", &make_matmul, 2},
      {"Gemm", &make_gemm, 2},           {kLinear, &make_linear, 3},
      {"Einsum", &make_einsum},          {"Attention", &make_attention, 3},
  };
  return kAll;
}

}  // namespace protocom::onnx
