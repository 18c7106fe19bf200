#include "trainers/detail/training_pixels.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace protocom {
namespace {

struct Data {
  at::Tensor pixels;
  std::vector<int64_t> rows = {7, 1, 4, 5, 2, 0};
  std::vector<int64_t> labels = {0, 1, 2, 3, 4, 5};

  Data() {
    torch::manual_seed(2);
    pixels = at::randint(0, 256, {8, 6, 6, 3}, at::kByte);
  }
};

std::optional<Batch> first_batch(const Data& data, BatchContent content) {
  BatchLoaderOptions options;
  options.batch = 4;
  options.rotate = Rotate::kYes;
  options.content = content;
  options.seed = 9;
  BatchLoader loader(data.pixels, data.rows, data.labels, options);
  loader.start(0);
  return loader.next();
}

TEST(TrainingPixels, AreTheSameWhereverTheyLie) {
  const Data data;
  const auto expected = first_batch(data, BatchContent::kAugmented);
  const TrainingPixels host(data.pixels, data.rows, c10::kCPU, AugmentOn::kAuto);
  ASSERT_EQ(host.content(), BatchContent::kAugmented);
  const at::Tensor pixels = host.take(*expected).to(at::kInt);

  const TrainingPixels resident(data.pixels, data.rows, c10::kCPU, AugmentOn::kDevice);
  ASSERT_EQ(resident.content(), BatchContent::kDraws);
  const auto draws = first_batch(data, BatchContent::kDraws);
  EXPECT_FALSE(draws->pixels.defined());
  EXPECT_TRUE(draws->labels.equal(expected->labels));
  EXPECT_LE((resident.take(*draws).to(at::kInt) - pixels).abs().max().item<int>(), 1);

  const auto raw = first_batch(data, BatchContent::kRaw);
  EXPECT_TRUE(raw->rotations.equal(expected->rotations));
  const at::Tensor streamed = augment_batch(raw->pixels, raw->rows, raw->draws);
  EXPECT_TRUE(streamed.equal(resident.take(*draws)));
}

}  // namespace
}  // namespace protocom
