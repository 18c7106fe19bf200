#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "networks/onnx/detail/batch_axis.h"
#include "networks/onnx/detail/operators.h"

/// Operators that move values, and those that compute sizes.
namespace protocom::onnx {
namespace {

int64_t product(const Sizes& sizes) {
  check_elements(sizes);
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Resolves a shape: 0 takes the input's size (unless `keep_zero`), -1 the remainder.
Sizes resolved(Sizes target, const Sizes& input, bool keep_zero) {
  int64_t known = 1;
  int64_t* open = nullptr;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && !keep_zero && i < input.size()) target[i] = input[i];
    if (target[i] == -1 && open == nullptr) {
      open = &target[i];
      continue;
    }
    if (target[i] < 0 || __builtin_mul_overflow(known, target[i], &known))
      fail("the shape [{}] is out of range", fmt::join(target, ", "));
  }
  if (open != nullptr) *open = known > 0 ? product(input) / known : 0;
  if (product(target) != product(input))
    fail("cannot reshape [{}] to [{}]", fmt::join(input, ", "), fmt::join(target, ", "));
  return target;
}

Operation make_reshape(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  const Sizes target = resolved(binding.integer_values(1), input, binding.whole("allowzero", 0) != 0);
  return one_output([input, target](Tensors& in) { return in.at(0).reshape(reshaped(target, in[0].sizes(), input)); });
}

Operation make_flatten(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  const int64_t axis = binding.whole("axis", 1);
  const auto dims = static_cast<int64_t>(input.size());
  if (axis < -dims || axis > dims) fail("axis {} is out of range: the input has {} axes", axis, dims);
  const auto split = input.begin() + (axis < 0 ? axis + dims : axis);
  const Sizes target = {product(Sizes(input.begin(), split)), product(Sizes(split, input.end()))};
  return one_output([input, target](Tensors& in) { return in.at(0).reshape(reshaped(target, in[0].sizes(), input)); });
}

Operation make_transpose(const Binding& binding) {
  const size_t dims = binding.sizes(0).size();
  Sizes order(dims);
  std::iota(order.rbegin(), order.rend(), 0);
  order = binding.integers("perm", order);
  if (order.size() != dims) fail("perm has {} axes, the input has {}", order.size(), dims);
  for (int64_t& axis : order) axis = axis_of(axis, dims);
  return one_output([order](Tensors& in) { return in.at(0).permute(order); });
}

Operation make_squeeze(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  Sizes axes = binding.integers_or_input("axes", 1, {});
  if (axes.empty()) {
    for (size_t i = 0; i < input.size(); ++i) {
      if (input[i] == 1) axes.push_back(static_cast<int64_t>(i));
    }
  }
  for (int64_t& axis : axes) axis = axis_of(axis, input.size());
  std::sort(axes.rbegin(), axes.rend());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return one_output([axes](Tensors& in) {
    at::Tensor x = in.at(0);
    for (const int64_t axis : axes) {
      if (x.size(axis) != 1) fail("an axis to drop has size {}, expected 1", x.size(axis));
      x = x.squeeze(axis);
    }
    return x;
  });
}

Operation make_unsqueeze(const Binding& binding) {
  Sizes axes = binding.integers_or_input("axes", 1, {});
  const size_t dims = binding.sizes(0).size() + axes.size();
  check_elements(Sizes(dims, 1));  // each axis is added separately
  for (int64_t& axis : axes) axis = axis_of(axis, dims);
  std::sort(axes.begin(), axes.end());
  return one_output([axes](Tensors& in) {
    at::Tensor x = in.at(0);
    for (const int64_t axis : axes) x = x.unsqueeze(axis);
    return x;
  });
}

/// Repeats inputs that are the same for each image, such as a class token.
Operation make_concat(const Binding& binding) {
  const int64_t axis = axis_of(binding.whole("axis", 0), binding.sizes(0).size());
  std::vector<Sizes> of_one;
  Sizes total = binding.sizes(0);
  for (size_t i = 0; i < binding.inputs(); ++i) {
    of_one.push_back(binding.sizes(i));
    if (i > 0)
      total[static_cast<size_t>(axis)] +=
          axis < static_cast<int64_t>(of_one[i].size()) ? of_one[i][static_cast<size_t>(axis)] : 0;
  }
  check_elements(total);
  return one_output([axis, of_one](Tensors& in) {
    BatchAxis batch;
    for (size_t i = 0; i < in.size() && batch.images == 1; ++i) batch = batch_axis(in[i].sizes(), of_one[i]);
    if (batch.images == 1) return at::cat(in, axis);
    if (batch.axis == axis) fail("concatenation along the batch is not supported");
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].sizes() != at::IntArrayRef(of_one[i])) continue;
      Sizes repeats(of_one[i].size(), 1);
      repeats[static_cast<size_t>(batch.axis)] = batch.images;
      Sizes wanted = of_one[i];
      wanted[static_cast<size_t>(batch.axis)] *= batch.images;
      in[i] = of_one[i][static_cast<size_t>(batch.axis)] == 1 ? in[i].expand(wanted) : in[i].repeat(repeats);
    }
    return at::cat(in, axis);
  });
}

Operation make_split(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  const int64_t axis = axis_of(binding.whole("axis", 0), input.size());
  const int64_t length = input[static_cast<size_t>(axis)];
  Sizes parts = binding.integers_or_input("split", 1, {});
  if (parts.empty()) {
    const auto count = static_cast<int64_t>(binding.outputs());
    const int64_t part = (length + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) parts.push_back(std::max<int64_t>(0, std::min(part, length - i * part)));
  }
  if (parts.size() != binding.outputs() || *std::min_element(parts.begin(), parts.end()) < 0 ||
      product({std::accumulate(parts.begin(), parts.end(), int64_t{0})}) != length)
    fail("cannot split a dimension of {} into [{}]", length, fmt::join(parts, ", "));
  return [axis, parts](Tensors& in) { return in.at(0).split_with_sizes(parts, axis); };
}

struct Slices {
  Sizes starts, ends, axes, steps;
};

Slices slices_of(const Binding& binding) {
  Slices slices;
  const bool old = binding.has_attribute("starts");
  slices.starts = old ? binding.integers("starts", {}) : binding.integer_values(1);
  slices.ends = old ? binding.integers("ends", {}) : binding.integer_values(2);
  Sizes all(slices.starts.size());
  std::iota(all.begin(), all.end(), 0);
  slices.axes = old ? binding.integers("axes", all) : binding.has(3) ? binding.integer_values(3) : all;
  slices.steps = binding.has(4) ? binding.integer_values(4) : Sizes(slices.starts.size(), 1);
  const size_t count = slices.starts.size();
  if (slices.ends.size() != count || slices.axes.size() != count || slices.steps.size() != count)
    fail("starts, ends, axes and steps differ in length");
  return slices;
}

/// Returns positions start, start + step, ... before end, by ONNX's rules for a negative step.
at::Tensor slice_back(const at::Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t length = x.size(axis);
  const auto placed = [&](int64_t place, int64_t most) {
    return std::clamp<int64_t>(place < 0 ? place + length : place, -1, most);
  };
  const int64_t first = placed(start, length - 1);
  const int64_t last = end < -length ? -1 : placed(end, length - 1);
  if (step < -length) step = -std::max<int64_t>(length, 1);
  const int64_t count = first > last ? (first - last - step - 1) / -step : 0;
  const at::Tensor places = at::arange(count, x.options().dtype(at::kLong)) * step + first;
  return x.index_select(axis, places);
}

Operation make_slice(const Binding& binding) {
  Slices slices = slices_of(binding);
  const size_t dims = binding.sizes(0).size();
  for (int64_t& axis : slices.axes) axis = axis_of(axis, dims);
  for (const int64_t step : slices.steps) {
    if (step == 0) fail("step: expected a number other than 0");
  }
  return one_output([slices](Tensors& in) {
    at::Tensor x = in.at(0);
    for (size_t i = 0; i < slices.axes.size(); ++i) {
      const int64_t step = slices.steps[i];
      // The smallest numbers mean "from the first", but LibTorch interprets them as unknown sizes.
      const auto placed = [&](int64_t place) { return std::max(place, -x.size(slices.axes[i])); };
      x = step > 0 ? x.slice(slices.axes[i], placed(slices.starts[i]), placed(slices.ends[i]), step)
                   : slice_back(x, slices.axes[i], slices.starts[i], slices.ends[i], step);
    }
    return x;
  });
}

Operation make_gather(const Binding& binding) {
  const size_t dims = binding.sizes(0).size();
  const int64_t axis = axis_of(binding.whole("axis", 0), dims);
  const at::Tensor constant = binding.constant(1);
  if (constant.defined() && constant.numel() == 1 && constant.dim() == 0) {
    const auto place = constant.to(at::kLong).item<int64_t>();
    return one_output([axis, place](Tensors& in) { return in.at(0).select(axis, place); });
  }
  Sizes made = binding.sizes(0);
  const Sizes& places_of_one = binding.sizes(1);
  made.erase(made.begin() + axis);
  made.insert(made.begin() + axis, places_of_one.begin(), places_of_one.end());
  check_elements(made);
  return one_output([axis](Tensors& in) {
    const at::Tensor& x = in.at(0);
    Sizes sizes = x.sizes().vec();
    const at::Tensor places = in.at(1).to(at::kLong);
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, places.sizes().begin(), places.sizes().end());
    const at::Tensor from_front = at::where(places < 0, places + x.size(axis), places);
    return x.index_select(axis, from_front.reshape({-1})).reshape(sizes);
  });
}

Operation make_expand(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  const Sizes target = broadcast(input, binding.integer_values(1));
  return one_output([input, target](Tensors& in) {
    const BatchAxis batch = batch_axis(in.at(0).sizes(), input);
    Sizes sizes = target;
    const size_t place = target.size() - input.size() + static_cast<size_t>(batch.axis);
    if (batch.images > 1) sizes.at(place) *= batch.images;
    return in[0].expand(sizes);
  });
}

Operation make_tile(const Binding& binding) {
  const Sizes repeats = binding.integer_values(1);
  Sizes sizes = binding.sizes(0);
  if (repeats.size() != sizes.size()) fail("repeats has {} axes, the input has {}", repeats.size(), sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(sizes[i], repeats[i], &sizes[i])) fail("repeats is out of range");
  }
  check_elements(sizes);
  return one_output([repeats](Tensors& in) { return in.at(0).repeat(repeats); });
}

/// Returns sizes for one image; values derived from them follow the batch.
Operation make_shape(const Binding& binding) {
  const Sizes& sizes = binding.sizes(0);
  const auto dims = static_cast<int64_t>(sizes.size());
  const auto placed = [&](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + dims : place, 0, dims); };
  const int64_t start = placed(binding.whole("start", 0));
  const int64_t end = std::max(start, placed(binding.whole("end", dims)));
  const at::Tensor answer = at::tensor(Sizes(sizes.begin() + start, sizes.begin() + end), at::kLong);
  return one_output([answer](Tensors& /*in*/) { return answer; });
}

Operation make_size(const Binding& binding) {
  const at::Tensor answer = at::scalar_tensor(product(binding.sizes(0)), at::kLong);
  return one_output([answer](Tensors& /*in*/) { return answer; });
}

Operation make_constant(const Binding& binding) {
  const auto& attributes = binding.node().attributes;
  at::Tensor value;
  if (const auto tensor = attributes.find("value"); tensor != attributes.end()) value = tensor->second.tensor;
  if (binding.has_attribute("value_float")) value = at::scalar_tensor(binding.number("value_float", 0), at::kFloat);
  if (binding.has_attribute("value_int")) value = at::scalar_tensor(binding.whole("value_int", 0), at::kLong);
  if (binding.has_attribute("value_ints")) value = at::tensor(binding.integers("value_ints", {}), at::kLong);
  if (const auto numbers = attributes.find("value_floats"); numbers != attributes.end())
    value = at::tensor(numbers->second.numbers, at::kFloat);
  if (!value.defined()) fail("this kind of constant is not supported");
  return one_output([value](Tensors& /*in*/) { return value; });
}

Operation make_constant_of_shape(const Binding& binding) {
  const Sizes sizes = binding.integer_values(0);
  check_elements(sizes);
  const auto& attributes = binding.node().attributes;
  const auto given = attributes.find("value");
  at::Tensor value = at::zeros({1}, at::kFloat);
  if (given != attributes.end() && given->second.tensor.defined()) value = given->second.tensor;
  if (value.numel() != 1) fail("value has {} numbers, expected one", value.numel());
  const at::Tensor answer = value.reshape({}).expand(sizes).contiguous();
  return one_output([answer](Tensors& /*in*/) { return answer; });
}

Operation make_range(const Binding& binding) {
  const auto one = [&](size_t input) {
    const std::vector<double> values = binding.values(input);
    if (values.size() != 1) fail("input {} has {} numbers, expected one", input + 1, values.size());
    return values.front();
  };
  const double start = one(0);
  const double end = one(1);
  const double step = one(2);
  const double count = std::ceil((end - start) / step);
  if (!(std::isfinite(count) && count < 1e6)) fail("a range from {} to {} by {} is too long", start, end, step);
  const at::Tensor answer =
      at::arange(std::max(count, 0.0), at::kDouble).mul(step).add(start).to(binding.constant(0).scalar_type());
  return one_output([answer](Tensors& /*in*/) { return answer; });
}

/// Returns the input with the updates at the positions in the indices' last axis.
Operation make_scatter(const Binding& binding) {
  if (binding.text("reduction", "none") != "none") fail("reduction is not supported");
  return one_output([](Tensors& in) {
    at::Tensor out = in.at(0).clone();
    const at::Tensor places = in.at(1).to(at::kLong);
    c10::List<c10::optional<at::Tensor>> indices;
    for (int64_t i = 0; i < places.size(-1); ++i) indices.push_back(places.select(-1, i));
    return out.index_put_(indices, in.at(2));
  });
}

/// Pads as listed in ONNX, begins then ends, for each axis of the input.
Operation make_pad(const Binding& binding) {
  const size_t dims = binding.sizes(0).size();
  const Sizes listed = binding.integers_or_input("pads", 1, {});
  Sizes axes(dims);
  std::iota(axes.begin(), axes.end(), 0);
  if (binding.has(3)) axes = binding.integer_values(3);
  if (listed.size() != 2 * axes.size()) fail("pads has {} numbers, expected {}", listed.size(), 2 * axes.size());
  Sizes pads(2 * dims, 0);  // last axis first, begin and end
  Sizes sizes = binding.sizes(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axis_of(axes[i], dims));
    const int64_t begin = pads[2 * (dims - 1 - axis)] = listed[i];
    const int64_t end = pads[2 * (dims - 1 - axis) + 1] = listed[axes.size() + i];
    constexpr int64_t kMost = 4096;
    if (std::max(std::abs(begin), std::abs(end)) > kMost || sizes[axis] + begin + end < 0)
      fail("cannot pad a dimension of {} by {} and {}", sizes[axis], begin, end);
    sizes[axis] += begin + end;
  }
  check_elements(sizes);
  const std::string mode = binding.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") fail("mode='{}' is not supported", excerpt(mode));
  double value = binding.number("value", 0);
  if (binding.has(2) && !binding.values(2).empty()) value = binding.values(2).front();
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; }))
    return one_output([](Tensors& in) { return std::move(in.at(0)); });
  if (mode == "constant")
    return one_output([pads, value](Tensors& in) { return at::constant_pad_nd(in.at(0), pads, value); });
  if (dims != 4 || std::any_of(pads.begin() + 4, pads.end(), [](int64_t pad) { return pad != 0; }))
    fail("only height and width can be reflected");
  const Sizes sides(pads.begin(), pads.begin() + 4);
  if (mode == "reflect") return one_output([sides](Tensors& in) { return at::reflection_pad2d(in.at(0), sides); });
  return one_output([sides](Tensors& in) { return at::replication_pad2d(in.at(0), sides); });
}

}  // namespace

const std::vector<Operator>& shape_operators() {
  static const std::vector<Operator> kAll = {
      {"Reshape", &make_reshape, 2}, {"Flatten", &make_flatten},      {"Transpose", &make_transpose},
      {"Squeeze", &make_squeeze},    {"Unsqueeze", &make_unsqueeze},  {"Concat", &make_concat},
      {"Split", &make_split},        {"Slice", &make_slice},          {"Gather", &make_gather, 2},
      {"Expand", &make_expand, 2},   {"Tile", &make_tile, 2},         {"Shape", &make_shape},
      {"Size", &make_size},          {"Constant", &make_constant, 0}, {"ConstantOfShape", &make_constant_of_shape},
      {"Range", &make_range, 3},     {"ScatterND", &make_scatter, 3}, {"Pad", &make_pad},
  };
  return kAll;
}

}  // namespace protocom::onnx
