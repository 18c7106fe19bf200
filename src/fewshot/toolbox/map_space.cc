#include "fewshot/toolbox/detail/map_space.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/toolbox/detail/expect_tensor.h"

namespace protocom {
namespace {

/// Of `values` that follow from feature maps: these are read as they are drawn, so that nothing before looks at all of
/// them.
void check_finite(const at::Tensor& values) {
  if (!values.isfinite().all().item<bool>())
    fail("there are feature maps with values that are infinite or not numbers: extract them again");
}

}  // namespace

MapSpace::MapSpace(const FitMaps& maps) : height_(maps.maps.size(2)), width_(maps.maps.size(3)) {
  constexpr int64_t kAtOnce = 256;
  at::Tensor sum = at::zeros({maps.maps.size(1)}, at::kDouble);
  at::Tensor squares = at::zeros_like(sum);
  for (int64_t i = 0; i < maps.base.size(0); i += kAtOnce) {
    const at::Tensor rows = maps.base.slice(0, i, i + kAtOnce);
    const at::Tensor some = maps.maps.index_select(0, rows).to(at::kFloat);
    sum += some.sum({0, 2, 3}, false, at::kDouble);
    squares += some.square().sum({0, 2, 3}, false, at::kDouble);
  }
  const auto count = static_cast<double>(maps.base.size(0) * places());
  const at::Tensor mean = sum / count;
  check_finite(mean);
  const at::Tensor spread = (squares / count - mean.square()).clamp_min(0).mean().sqrt();
  if (!(spread.item<double>() > 0)) fail("all feature maps of the base classes are alike");
  centre_ = mean.to(at::kFloat);
  scale_ = spread.to(at::kFloat);
}

MapSpace::MapSpace(const MethodState& state)
    : centre_(state.at("maps.centre").to(at::kFloat)), scale_(state.at("maps.scale").to(at::kFloat)) {
  const at::Tensor& size = state.at("maps.size");
  expect_tensor(centre_, {"maps.centre", at::kFloat, {-1}});
  expect_tensor(scale_, {"maps.scale", at::kFloat, {}});
  expect_tensor(size, {"maps.size", at::kLong, {2}});
  height_ = size[0].item<int64_t>();
  width_ = size[1].item<int64_t>();
  if (height_ < 1 || width_ < 1) fail("maps.size is {} x {}, expected at least 1 x 1", height_, width_);
}

void MapSpace::check(const MethodContext& context) const {
  if (!context.maps.defined()) return;
  const std::vector<int64_t> own = {channels(), height_, width_};
  if (context.maps.sizes().slice(1) == at::IntArrayRef(own)) return;
  fail("the method was fitted on feature maps of [{}], these have [{}]: fit it on maps of the same backbone and size",
       fmt::join(own, ", "), fmt::join(context.maps.sizes().slice(1), ", "));
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
  state.tensors.emplace_back("maps.size", at::tensor({height_, width_}, at::kLong));
  state.tensors.emplace_back("maps.centre", centre_);
  state.tensors.emplace_back("maps.scale", scale_);
}

}  // namespace protocom
