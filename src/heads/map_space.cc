#include "heads/detail/map_space.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/error.h"
#include "heads/detail/expect_tensor.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Checks `values` computed from feature maps: maps are read as they are drawn, so nothing has checked all of them
/// before.
void check_finite(const at::Tensor& values) {
  if (!values.isfinite().all().item<bool>()) fail("the feature maps are not finite: extract them again");
}

}  // namespace

MapSpace::MapSpace(const FitMaps& maps) : height_(maps.maps.size(2)), width_(maps.maps.size(3)) {
  constexpr size_t kAtOnce = 256;
  at::Tensor sum = at::zeros({maps.maps.size(1)}, at::kDouble);
  at::Tensor squares = at::zeros_like(sum);
  for (size_t i = 0; i < maps.base.size(); i += kAtOnce) {
    const auto first = maps.base.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(kAtOnce, maps.base.size() - i));
    const at::Tensor some = tensor_of(maps.maps.gathered({first, last})).to(at::kFloat);
    sum += some.sum({0, 2, 3}, false, at::kDouble);
    squares += some.square().sum({0, 2, 3}, false, at::kDouble);
  }
  const auto count = static_cast<double>(static_cast<int64_t>(maps.base.size()) * places());
  const at::Tensor mean = sum / count;
  check_finite(mean);
  const at::Tensor spread = (squares / count - mean.square()).clamp_min(0).mean().sqrt();
  if (!(spread.item<double>() > 0)) fail("all feature maps of the base classes are identical: check the encoder");
  centre_ = mean.to(at::kFloat);
  scale_ = spread.to(at::kFloat);
}

MapSpace::MapSpace(const MethodState& state)
    : centre_(tensor_of(state.at("maps.centre")).to(at::kFloat)),
      scale_(tensor_of(state.at("maps.scale")).to(at::kFloat)) {
  const at::Tensor size = tensor_of(state.at("maps.size"));
  expect_tensor(centre_, {"maps.centre", at::kFloat, {-1}});
  expect_tensor(scale_, {"maps.scale", at::kFloat, {}});
  expect_tensor(size, {"maps.size", at::kLong, {2}});
  height_ = size[0].item<int64_t>();
  width_ = size[1].item<int64_t>();
  if (height_ < 1 || width_ < 1) fail("maps.size is {} x {}, expected at least 1 x 1", height_, width_);
}

void MapSpace::check(const MethodContext& context) const {
  if (!context.maps.defined()) return;
  const Shape own = {channels(), height_, width_}, found(context.maps.shape().begin() + 1, context.maps.shape().end());
  if (found == own) return;
  fail("the method was fitted on feature maps of [{}], found [{}]: fit it on maps of the same backbone and size",
       fmt::join(own, ", "), fmt::join(found, ", "));
}

at::Tensor MapSpace::maps_of(const at::Tensor& rows) const {
  if (rows.size(-1) != channels() * places())
    fail("feature maps of {} values an image, the method was fitted on {} x {} x {}", rows.size(-1), channels(),
         height_, width_);
  check_finite(rows);
  const at::Tensor maps = rows.reshape({-1, channels(), height_, width_});
  return (maps - centre_.view({1, -1, 1, 1})) / scale_;
}

at::Tensor MapSpace::places_of(const at::Tensor& rows) const { return maps_of(rows).flatten(2).transpose(1, 2); }

void MapSpace::add_to(MethodState& state) const {
  state.tensors.emplace_back("maps.size", Array::of<int64_t>({height_, width_}));
  state.tensors.emplace_back("maps.centre", array_of(centre_));
  state.tensors.emplace_back("maps.scale", array_of(scale_));
}

}  // namespace protocom
