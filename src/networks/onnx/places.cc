#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "networks/onnx/detail/operators.h"

/// Operators that gather values from positions or scatter them, and cumulative sums.
namespace protocom::onnx {
namespace {

/// Returns positions counted from the front.
at::Tensor from_front(const at::Tensor& places, int64_t length) {
  const at::Tensor whole = places.to(at::kLong);
  return at::where(whole < 0, whole + length, whole);
}

/// The last axis of the positions indexes values of the input, along its axes after `batch_dims`.
Operation make_gather_nd(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  const Sizes& places = binding.sizes(1);
  const int64_t batch = binding.whole("batch_dims", 0);
  const int64_t depth = places.empty() ? 0 : places.back();
  const auto dims = static_cast<int64_t>(input.size());
  if (batch < 0 || batch >= static_cast<int64_t>(places.size()) || depth < 1 || depth > dims - batch)
    fail("indices [{}] with batch_dims={} do not fit an input of {} axes", fmt::join(places, ", "), batch, dims);
  Sizes made(places.begin(), places.end() - 1);
  made.insert(made.end(), input.begin() + batch + depth, input.end());
  check_elements(made);
  return one_output([batch, depth](Tensors& in) {
    const at::Tensor& x = in.at(0);
    const at::Tensor chosen = in.at(1).to(at::kLong);
    c10::List<c10::optional<at::Tensor>> indices;
    for (int64_t axis = 0; axis < batch; ++axis) {
      Sizes shape(static_cast<size_t>(chosen.dim() - 1), 1);
      shape[static_cast<size_t>(axis)] = x.size(axis);
      indices.push_back(at::arange(x.size(axis), chosen.options()).view(shape));
    }
    for (int64_t i = 0; i < depth; ++i) indices.push_back(chosen.select(-1, i));
    return x.index(indices);
  });
}

Operation make_gather_elements(const Binding& binding) {
  const int64_t axis = axis_of(binding.whole("axis", 0), binding.sizes(0).size());
  return one_output([axis](Tensors& in) { return at::gather(in.at(0), axis, from_front(in.at(1), in[0].size(axis))); });
}

Operation make_scatter_elements(const Binding& binding) {
  const int64_t axis = axis_of(binding.whole("axis", 0), binding.sizes(0).size());
  const std::string reduction = binding.text("reduction", "none");
  if (reduction != "none" && reduction != "add") fail("reduction='{}' is not supported", excerpt(reduction));
  return one_output([axis, adds = reduction == "add"](Tensors& in) {
    const at::Tensor places = from_front(in.at(1), in.at(0).size(axis));
    return adds ? at::scatter_add(in[0], axis, places, in.at(2)) : at::scatter(in[0], axis, places, in.at(2));
  });
}

/// Sums up to each position of an axis; `exclusive`: before it; `reverse`: from the end.
Operation make_cumulative_sum(const Binding& binding) {
  const Sizes stated = binding.integer_values(1);
  if (stated.size() != 1) fail("axis: expected one number");
  const int64_t axis = axis_of(stated.front(), binding.sizes(0).size());
  const bool reverse = binding.whole("reverse", 0) != 0;
  const bool exclusive = binding.whole("exclusive", 0) != 0;
  return one_output([=](Tensors& in) {
    const at::Tensor x = reverse ? in.at(0).flip({axis}) : in.at(0);
    at::Tensor sums = at::cumsum(x, axis, x.scalar_type());
    if (exclusive && x.size(axis) > 0)
      sums = at::cat({at::zeros_like(x.narrow(axis, 0, 1)), sums.narrow(axis, 0, x.size(axis) - 1)}, axis);
    return reverse ? sums.flip({axis}) : sums;
  });
}

}  // namespace

const std::vector<Operator>& place_operators() {
  static const std::vector<Operator> kAll = {
      {"GatherND", &make_gather_nd, 2},
      {"GatherElements", &make_gather_elements, 2},
      {"ScatterElements", &make_scatter_elements, 3},
      {"CumSum", &make_cumulative_sum, 2},
  };
  return kAll;
}

}  // namespace protocom::onnx
