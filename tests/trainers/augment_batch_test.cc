#include "trainers/detail/augment_batch.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

namespace protocom {
namespace {

constexpr int64_t kSide = 9;

at::Tensor noise(int64_t count) {
  torch::manual_seed(5);
  return at::randint(0, 256, {count, kSide, kSide, 3}, at::kByte);
}

Image image_of(const at::Tensor& pixels) {
  const auto* begin = pixels.data_ptr<uint8_t>();
  return {kSide, kSide, {begin, begin + kSide * kSide * 3}};
}

at::Tensor tensor_of(const Image& image) {
  at::Tensor pixels = at::empty({kSide, kSide, 3}, at::kByte);
  std::copy(image.rgb.begin(), image.rgb.end(), pixels.data_ptr<uint8_t>());
  return pixels;
}

/// Augments the same images one by one.
at::Tensor one_by_one(const at::Tensor& pixels, const std::vector<int64_t>& rows, const std::vector<AugmentDraw>& draws,
                      const std::vector<int64_t>& turns) {
  std::vector<at::Tensor> images;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Image image = augment(image_of(pixels[rows[i]]), draws[i]);
    images.push_back(tensor_of(rotate_quarters(image, static_cast<int>(turns[i]))));
  }
  return at::stack(images);
}

at::Tensor all_at_once(const at::Tensor& pixels, const std::vector<int64_t>& rows,
                       const std::vector<AugmentDraw>& draws, const std::vector<int64_t>& turns) {
  return augment_batch(pixels, at::tensor(rows, at::kLong), stack_draws(draws, turns));
}

TEST(AugmentBatch, MovesFlipsAndTurnsPixelsAsImagesOneByOne) {
  const at::Tensor pixels = noise(3);
  std::vector<int64_t> rows, turns;
  std::vector<AugmentDraw> draws;
  for (const int64_t down : {-kSide, int64_t{-2}, int64_t{0}, int64_t{3}}) {
    for (const int64_t right : {int64_t{-4}, int64_t{0}, int64_t{1}, kSide + 1}) {
      for (int64_t turn = 0; turn < 4; ++turn) {
        for (const bool flip : {false, true}) {
          rows.push_back((down + right + turn + 40) % 3);
          draws.push_back({down, right, {}, flip});
          turns.push_back(turn);
        }
      }
    }
  }
  EXPECT_TRUE(all_at_once(pixels, rows, draws, turns).equal(one_by_one(pixels, rows, draws, turns)));
}

TEST(AugmentBatch, ChangesColoursAsImagesOneByOneUpToOneLevel) {
  const at::Tensor pixels = noise(64);
  std::vector<int64_t> rows, turns;
  std::vector<AugmentDraw> draws;
  Rng rng(3);
  for (int64_t i = 0; i < 64; ++i) {
    rows.push_back(63 - i);
    draws.push_back(draw_augmentation({}, kSide, rng));
    turns.push_back(i % 4);
  }
  const at::Tensor expected = one_by_one(pixels, rows, draws, turns).to(at::kInt);
  const at::Tensor difference = (all_at_once(pixels, rows, draws, turns).to(at::kInt) - expected).abs();
  EXPECT_LE(difference.max().item<int>(), 1);
  EXPECT_LT(difference.to(at::kFloat).mean().item<float>(), 0.01);
  EXPECT_GT((expected - pixels.index_select(0, at::tensor(rows, at::kLong)).to(at::kInt)).abs().max().item<int>(), 50);
}

TEST(AugmentBatch, WithoutDrawsIsTheIdentity) {
  const at::Tensor pixels = noise(2);
  EXPECT_TRUE(all_at_once(pixels, {1, 0}, {{}, {}}, {}).equal(pixels.flip(0)));
}

}  // namespace
}  // namespace protocom
