#include <ATen/ATen.h>
#include <c10/util/Optional.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/windows.h"

/// Poolings, normalisations and resizing.
namespace protocom::onnx {
namespace {

Window pooling_window(const Binding& binding) {
  const Window window = window_of(binding, binding.integers("kernel_shape", {}));
  check_maps(window, binding.sizes(0), binding.sizes(0)[1]);
  return window;
}

/// Whether ATen supports the padding: at most half the window, and symmetric.
bool pads_itself(const Window& window) {
  return window.is_even() && window.begin[0] <= window.kernel[0] / 2 && window.begin[1] <= window.kernel[1] / 2;
}

Operation make_max_pool(const Binding& binding) {
  const Window window = pooling_window(binding);
  if (binding.outputs() > 1) fail("the output of indices is not supported");
  if (pads_itself(window)) {
    return one_output([=](Tensors& in) {
      return at::max_pool2d(in.at(0), window.kernel, window.strides, window.begin, window.dilations, window.ceil);
    });
  }
  return one_output([=](Tensors& in) {
    const at::Tensor padded = at::constant_pad_nd(in.at(0), window.pads(), -std::numeric_limits<float>::infinity());
    return at::max_pool2d(padded, window.kernel, window.strides, at::IntArrayRef({0, 0}), window.dilations,
                          window.ceil);
  });
}

Operation make_average_pool(const Binding& binding) {
  const Window window = pooling_window(binding);
  const bool counts_padding = binding.whole("count_include_pad", 0) != 0;
  if (window.dilations != Sizes{1, 1}) fail("dilations are not supported");
  if (pads_itself(window)) {
    return one_output([=](Tensors& in) {
      return at::avg_pool2d(in.at(0), window.kernel, window.strides, window.begin, window.ceil, counts_padding);
    });
  }
  return one_output([=](Tensors& in) {
    const auto mean = [&](const at::Tensor& x) {
      return at::avg_pool2d(at::constant_pad_nd(x, window.pads(), 0), window.kernel, window.strides,
                            at::IntArrayRef({0, 0}), window.ceil);
    };
    if (counts_padding) return mean(in.at(0));
    return mean(in.at(0)) / mean(at::ones({1, 1, in[0].size(2), in[0].size(3)}, in[0].options()));
  });
}

/// Reduces over all positions of maps, or of tokens [n, channels, t].
template <at::Tensor (*function)(const at::Tensor&, at::IntArrayRef)>
Operation make_global(const Binding& binding) {
  const auto dims = static_cast<int64_t>(binding.sizes(0).size());
  if (dims < 3) fail("the input has {} axes, expected at least 3", dims);
  Sizes places(static_cast<size_t>(dims - 2));
  std::iota(places.begin(), places.end(), 2);
  return one_output([places](Tensors& in) { return function(in.at(0), places); });
}

at::Tensor mean_over(const at::Tensor& x, at::IntArrayRef axes) { return x.mean(axes, /*keepdim=*/true); }
at::Tensor largest_over(const at::Tensor& x, at::IntArrayRef axes) { return at::amax(x, axes, /*keepdim=*/true); }

Operation make_batch_norm(const Binding& binding) {
  if (binding.whole("training_mode", 0) != 0 || binding.outputs() > 1)
    fail("training mode is not supported: export again after model.eval()");
  const double epsilon = binding.number("epsilon", 1e-5);
  const at::Tensor scale = binding.weight(1);
  const at::Tensor shift = binding.weight(2);
  const at::Tensor mean = binding.weight(3);
  const at::Tensor variance = binding.weight(4);
  return one_output([=](Tensors& in) {
    return at::batch_norm(in.at(0), scale, shift, mean, variance, /*training=*/false, 0.1, epsilon,
                          /*cudnn_enabled=*/false);
  });
}

Operation make_instance_norm(const Binding& binding) {
  const double epsilon = binding.number("epsilon", 1e-5);
  return one_output([epsilon](Tensors& in) {
    return at::instance_norm(in.at(0), in.at(1), in.at(2), {}, {}, /*use_input_stats=*/true, 0.1, epsilon, false);
  });
}

Operation make_layer_norm(const Binding& binding) {
  const Sizes& sizes = binding.sizes(0);
  const int64_t axis = axis_of(binding.whole("axis", -1), sizes.size());
  const double epsilon = binding.number("epsilon", 1e-5);
  const Sizes over(sizes.begin() + axis, sizes.end());
  const auto placed = [&](size_t input) -> c10::optional<at::Tensor> {
    if (!binding.has(input)) return c10::nullopt;
    return binding.weight(input).expand(over).contiguous();
  };
  const auto scale = placed(1);
  const auto shift = placed(2);
  if (binding.outputs() > 1) fail("the outputs of means and deviations are not supported");
  return one_output([=](Tensors& in) {
    return at::layer_norm(in.at(0).to(at::kFloat).contiguous(), over, scale, shift, epsilon, false);
  });
}

/// Computes x / sqrt(mean of squares + epsilon) * scale, over the axes from `axis` on.
Operation make_rms_norm(const Binding& binding) {
  const Sizes& sizes = binding.sizes(0);
  const int64_t axis = axis_of(binding.whole("axis", -1), sizes.size());
  const double epsilon = binding.number("epsilon", 1e-5);
  if (broadcast(sizes, binding.sizes(1)) != sizes)
    fail("the scale is [{}], expected a shape that broadcasts to the input's [{}]", fmt::join(binding.sizes(1), ", "),
         fmt::join(sizes, ", "));
  Sizes over(sizes.size() - static_cast<size_t>(axis));
  std::iota(over.begin(), over.end(), axis);
  return one_output([over, epsilon](Tensors& in) {
    const at::Tensor x = in.at(0).to(at::kFloat);
    return x * (x.square().mean(over, /*keepdim=*/true) + epsilon).rsqrt() * in.at(1);
  });
}

/// Up to operator set 20 scale and shift are per group, from 21 on per channel.
Operation make_group_norm(const Binding& binding) {
  const int64_t groups = binding.whole("num_groups", 1);
  const double epsilon = binding.number("epsilon", 1e-5);
  const Sizes& sizes = binding.sizes(0);
  if (sizes.size() < 2 || groups < 1 || sizes[1] % groups != 0) fail("{} groups do not divide the channels", groups);
  const auto of_channels = [&](size_t input) {
    const at::Tensor values = binding.weight(input);
    return values.size(0) == sizes[1] ? values : values.repeat_interleave(sizes[1] / groups);
  };
  const at::Tensor scale = of_channels(1);
  const at::Tensor shift = of_channels(2);
  return one_output([=](Tensors& in) {
    return at::group_norm(in.at(0).contiguous(), groups, scale, shift, epsilon, /*cudnn_enabled=*/false);
  });
}

/// Divides x by the length of the vectors along an axis.
Operation make_lp_norm(const Binding& binding) {
  const int64_t axis = axis_of(binding.whole("axis", -1), binding.sizes(0).size());
  const int64_t p = binding.whole("p", 2);
  return one_output([=](Tensors& in) { return in.at(0) / in[0].norm(p, axis, /*keepdim=*/true).clamp_min(1e-12); });
}

/// Returns the resized sides, from the input that states them.
Sizes resized_sides(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  const bool scales_first = binding.node().op == "Upsample" || binding.inputs() == 2;
  if (binding.has(3)) {
    const Sizes all = binding.integer_values(3);
    if (all.size() != 4) fail("only height and width can be resized");
    return {all[2], all[3]};
  }
  const std::vector<double> factors = binding.values(scales_first ? 1 : 2);
  if (factors.size() != 4 || factors[0] != 1 || factors[1] != 1) fail("only height and width can be resized");
  Sizes sides;
  for (size_t i = 2; i < 4; ++i) {
    const double side = static_cast<double>(input[i]) * factors[i];
    if (!(side >= 1 && side <= 8192)) fail("cannot resize a dimension of {} by {}", input[i], factors[i]);
    sides.push_back(static_cast<int64_t>(side));
  }
  return sides;
}

Operation make_resize(const Binding& binding) {
  const Sizes& input = binding.sizes(0);
  if (input.size() != 4) fail("the input has {} axes, expected images", input.size());
  const Sizes sides = resized_sides(binding);
  if (std::min(sides[0], sides[1]) < 1) fail("a size of {} x {} is out of range", sides[0], sides[1]);
  check_elements({input[0], input[1], sides[0], sides[1]});
  const std::string mode = binding.text("mode", "nearest");
  const std::string places =
      binding.text("coordinate_transformation_mode", binding.opset() < 11 ? "asymmetric" : "half_pixel");
  const bool corners = places == "align_corners";
  if (mode == "nearest") return one_output([=](Tensors& in) { return at::upsample_nearest2d(in.at(0), sides); });
  if (!corners && places != "half_pixel" && places != "pytorch_half_pixel")
    fail("coordinate_transformation_mode='{}' is not supported", excerpt(places));
  const bool antialias = binding.whole("antialias", 0) != 0;
  if (mode == "linear" && antialias)
    return one_output([=](Tensors& in) { return at::_upsample_bilinear2d_aa(in.at(0), sides, corners); });
  if (mode == "linear")
    return one_output([=](Tensors& in) { return at::upsample_bilinear2d(in.at(0), sides, corners); });
  if (mode != "cubic" || std::abs(binding.number("cubic_coeff_a", -0.75) - (antialias ? -0.5 : -0.75)) > 1e-6)
    fail("mode='{}' is not supported", excerpt(mode));
  if (antialias) return one_output([=](Tensors& in) { return at::_upsample_bicubic2d_aa(in.at(0), sides, corners); });
  return one_output([=](Tensors& in) { return at::upsample_bicubic2d(in.at(0), sides, corners); });
}

}  // namespace

const std::vector<Operator>& network_operators() {
  static const std::vector<Operator> kAll = {
      {"Conv", &make_conv, 2},
      {kConv, &make_conv, 2},
      {"MaxPool", &make_max_pool},
      {"AveragePool", &make_average_pool},
      {"GlobalAveragePool", &make_global<&mean_over>},
      {"GlobalMaxPool", &make_global<&largest_over>},
      {"BatchNormalization", &make_batch_norm, 5},
      {"InstanceNormalization", &make_instance_norm, 3},
      {"LayerNormalization", &make_layer_norm},
      {"RMSNormalization", &make_rms_norm, 2},
      {"GroupNormalization", &make_group_norm, 3},
      {"LpNormalization", &make_lp_norm},
      {"Resize", &make_resize},
      {"Upsample", &make_resize},
  };
  return kAll;
}

}  // namespace protocom::onnx
