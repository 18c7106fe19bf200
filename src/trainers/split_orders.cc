#include "trainers/detail/split_orders.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace protocom {
namespace {

/// Returns int64 [24, 4]: which quarter stands at each place.
at::Tensor every_order() {
  std::vector<int64_t> order(kSplits), all;
  std::iota(order.begin(), order.end(), 0);
  do {
    all.insert(all.end(), order.begin(), order.end());
  } while (std::next_permutation(order.begin(), order.end()));
  return at::tensor(all, at::kLong).view({kSplitOrders, kSplits});
}

}  // namespace

int64_t split_side(int64_t image_size) { return image_size / 2; }

at::Tensor draw_split_orders(const BatchPlace& place, int64_t batch, const ProcessGroup& group) {
  constexpr uint64_t kStream = 0x6f72646572;  // a stream of its own, separate from the augmentation's
  const Rng epoch_rng = Rng(place.seed).fork(kStream).fork(static_cast<uint64_t>(place.epoch));
  const auto [first, end] = group.share(batch);
  std::vector<int64_t> orders;
  for (int64_t i = first; i < end; ++i)
    orders.push_back(epoch_rng.fork(static_cast<uint64_t>(place.step * batch + i)).below(kSplitOrders));
  return at::tensor(orders, at::kLong);
}

at::Tensor ordered_splits(const at::Tensor& images, const at::Tensor& orders) {
  const int64_t size = images.size(2), side = split_side(size);
  std::vector<at::Tensor> quarters;
  for (const int64_t top : {int64_t{0}, size - side}) {
    for (const int64_t left : {int64_t{0}, size - side})
      quarters.push_back(images.slice(2, top, top + side).slice(3, left, left + side));
  }
  const at::Tensor all = at::stack(quarters, 1);                                       // [b, 4, 3, s / 2, s / 2]
  const at::Tensor order = every_order().to(images.device()).index_select(0, orders);  // [b, 4]
  const at::Tensor image = at::arange(images.size(0), order.options());                // [b]
  return all.index({image.unsqueeze(1), order}).flatten(0, 1);
}

}  // namespace protocom
