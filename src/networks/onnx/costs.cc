#include "networks/onnx/detail/costs.h"

#include <algorithm>
#include <numeric>

#include "networks/onnx/detail/attention.h"
#include "networks/onnx/detail/convolution.h"
#include "networks/onnx/detail/einsum.h"
#include "networks/onnx/detail/windows.h"

namespace protocom::onnx {
namespace {

constexpr double kValue = 16;   // multiply-adds of a product in the time of an individually computed value
constexpr int64_t kBlock = 16;  // most channels that are packed together

/// Returns the product in floating point, which does not overflow.
double size_product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0,
                         [](double all, int64_t size) { return all * static_cast<double>(size); });
}

/// Returns the work of a window: number of results times values per channel.
double window_work(const Binding& binding, const Sizes& kernel) {
  const Window window = window_of(binding, kernel);
  const Sizes& input = binding.sizes(0);
  double work = size_product(kernel);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1;
    const int64_t free = input[2 + i] + window.begin[i] + window.end[i] - reach;
    const auto places = free / window.strides[i] + 1;  // whole ones
    work *= static_cast<double>(places);
  }
  return work;
}

double convolution_work(const Binding& binding) {
  const Sizes& weight = binding.sizes(1);  // [out, in / groups, h, w]
  if (weight.size() != 4) return 0;
  // The largest windows of networks have some fifty positions per side; larger ones are always slow.
  constexpr int64_t kLargeSide = 64;
  const double each = std::max(weight[2], weight[3]) > kLargeSide ? kValue : 1;
  return each * window_work(binding, {weight[2], weight[3]}) *
         size_product({binding.sizes(0)[0], weight[0], weight[1]});
}

double pooling_work(const Binding& binding) {
  const Sizes kernel = binding.integers("kernel_shape", {});
  const double work = window_work(binding, kernel);
  return work * size_product({binding.sizes(0)[0], binding.sizes(0)[1]}) * kValue;
}

/// Returns rows of the first matrix times its columns times columns of the second.
double matmul_work(const Binding& binding) {
  const Sizes& a = binding.sizes(0);
  const Sizes& b = binding.sizes(1);
  if (a.empty() || b.empty()) return 0;
  const Sizes none;
  const Sizes before_a = a.size() > 2 ? Sizes(a.begin(), a.end() - 2) : none;
  const Sizes before_b = b.size() > 2 ? Sizes(b.begin(), b.end() - 2) : none;
  const double rows = a.size() > 1 ? static_cast<double>(a[a.size() - 2]) : 1;
  const double columns = b.size() > 1 ? static_cast<double>(b.back()) : 1;
  return size_product(broadcast(before_a, before_b)) * rows * static_cast<double>(a.back()) * columns;
}

double gemm_work(const Binding& binding) {
  const Sizes& b = binding.sizes(1);
  if (b.size() != 2) return 0;
  return size_product(binding.sizes(0)) * static_cast<double>(b[binding.whole("transB", 0) != 0 ? 0 : 1]);
}

int64_t rounded_up(int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; }

int64_t packed_values(const Binding& binding) {
  const Sizes& weight = binding.sizes(1);
  if (weight.size() != 4) return 0;
  Sizes packed = weight;
  packed[0] = rounded_up(weight[0]);
  if (binding.whole("group", 1) == 1 && weight[1] > 3) packed[1] = rounded_up(weight[1]);
  return static_cast<int64_t>(size_product(packed));
}

/// Returns the values of scale and shift, broadcast to their operand.
int64_t repeated_values(const Binding& binding, const Sizes& over) {
  return static_cast<int64_t>(size_product(over)) * ((binding.has(1) ? 1 : 0) + (binding.has(2) ? 1 : 0));
}

}  // namespace

double work_of(const Binding& binding) {
  const Node& node = binding.node();
  if (is_convolution(node)) return convolution_work(binding);
  if (node.op == "MaxPool" || node.op == "AveragePool") return pooling_work(binding);
  if (node.op == "MatMul" || node.op == kLinear) return matmul_work(binding);
  if (node.op == "Einsum") return einsum_work(binding);
  if (node.op == "Attention") return attention_work(binding);
  return node.op == "Gemm" ? gemm_work(binding) : 0;
}

double work_of_values(int64_t values) { return kValue * static_cast<double>(values); }

int64_t kept_by(const Binding& binding) {
  const Node& node = binding.node();
  if (is_convolution(node)) return packed_values(binding);
  if (node.op == kLinear) return static_cast<int64_t>(size_product(binding.sizes(1)));
  if (node.op == "LayerNormalization") {
    const Sizes& input = binding.sizes(0);
    const int64_t axis = axis_of(binding.whole("axis", -1), input.size());
    return repeated_values(binding, Sizes(input.begin() + axis, input.end()));
  }
  if (node.op == "GroupNormalization" && binding.sizes(0).size() > 1)
    return repeated_values(binding, {binding.sizes(0)[1]});
  return 0;
}

}  // namespace protocom::onnx
