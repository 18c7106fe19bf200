#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "jobs/process_group.h"

namespace protocom {

/// Number of splits of an image, its quarters, and of the orders in which they can be arranged.
inline constexpr int64_t kSplits = 4;
inline constexpr int64_t kSplitOrders = 24;

/// Returns the side of a split of square images.
int64_t split_side(int64_t image_size);

/// Position of a batch in a training, which alone determines its orders.
struct BatchPlace {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t step = 0;
};

/// Draws an order for each image of this process's share of a batch of `batch` images: int64 [share], each of
/// kSplitOrders equally likely. The shares of all processes are what a single process would draw.
at::Tensor draw_split_orders(const BatchPlace& place, int64_t batch, const ProcessGroup& group);

/// Returns the quarters of images [b, 3, s, s] (of an odd side without the middle line), arranged per image in the
/// order `orders` [b]: [b * 4, 3, s / 2, s / 2], image by image. Order 0 is left to right, top to bottom; orders are
/// numbered lexicographically.
at::Tensor ordered_splits(const at::Tensor& images, const at::Tensor& orders);

}  // namespace protocom
