#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "jobs/process_group.h"

namespace protocom {

/// The splits of an image, its quarters, and the orders in which they can stand.
inline constexpr int64_t kSplits = 4;
inline constexpr int64_t kSplitOrders = 24;

/// The side of a split of square images.
int64_t split_side(int64_t image_size);

/// The position of a batch in a training: its orders follow from this alone.
struct BatchPlace {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t step = 0;
};

/// An order for each image of this process's share of a batch of `batch` images: int64 [share], each of kSplitOrders as
/// likely. The shares of all processes are what one process would draw.
at::Tensor draw_split_orders(const BatchPlace& place, int64_t batch, const ProcessGroup& group);

/// The quarters of images [b, 3, s, s] (of an odd side without the line in the middle), each image's in the order
/// `orders` [b] says: [b * 4, 3, s / 2, s / 2], image by image. Order 0 is left to right, top to bottom; orders are
/// numbered as words in a dictionary.
at::Tensor ordered_splits(const at::Tensor& images, const at::Tensor& orders);

}  // namespace protocom
