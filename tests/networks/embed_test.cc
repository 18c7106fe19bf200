#include "encoders/embed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>

#include "base/error.h"
#include "images/image.h"
#include "io/files.h"
#include "networks/torch_encoder.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::TempDir;
using ::testing::HasSubstr;

/// Returns each image's mean red, green and blue, and records how many images come at a time.
class MeanColour : public Backbone {
 public:
  at::Tensor forward(const at::Tensor& images) override {
    batches.push_back(images.size(0));
    return images.mean({2, 3});
  }
  int64_t dim() const override { return 3; }
  int64_t image_size() const override { return 4; }
  void set_mode(BackboneMode) override {}
  void to(c10::Device) override {}
  std::vector<std::pair<std::string, at::Tensor>> state_dict() const override { return {}; }
  std::vector<at::Tensor> parameters() const override { return {}; }

  std::vector<int64_t> batches;
};

/// Writes a PNG of one colour, not square.
std::filesystem::path paint(const TempDir& folder, const std::string& name, uint8_t red) {
  Image image{6, 8, std::vector<uint8_t>(6 * 8 * 3, 0)};
  for (size_t i = 0; i < image.rgb.size(); i += 3) image.rgb[i] = red;
  write_file(folder / name, encode_png(image));
  return folder / name;
}

TEST(EmbedFiles, GivesTheFeaturesOfTheReadableFilesInOrderAndListsTheOthers) {
  const TempDir folder;
  const auto dark = paint(folder, "dark.png", 51);
  write_file(folder / "broken.png", "no image");
  const auto bright = paint(folder, "bright.png", 255);
  MeanColour backbone;
  TorchEncoder encoder(backbone);
  ExtractOptions options;
  options.batch = 2;
  options.device = "cpu";
  const EmbeddedFiles files =
      embed_files(encoder, {dark, folder / "broken.png", bright, folder / "gone.png"}, options, Progress::none());
  EXPECT_EQ(files.numbers, (std::vector<size_t>{0, 2}));
  ASSERT_EQ(files.features.shape(), (Shape{2, 3}));
  const at::Tensor features = tensor_of(files.features);
  EXPECT_FLOAT_EQ(features[0][0].item<float>(), 0.2F);
  EXPECT_FLOAT_EQ(features[1][0].item<float>(), 1);
  EXPECT_FLOAT_EQ(features.select(1, 1).sum().item<float>(), 0);
  ASSERT_EQ(files.unreadable.size(), 2U);
  EXPECT_EQ(files.unreadable[0].path, folder / "broken.png");
  EXPECT_THAT(files.unreadable[0].reason, HasSubstr("broken.png"));
  EXPECT_THAT(files.unreadable[1].reason, HasSubstr("gone.png"));
}

TEST(EmbedFiles, HoldsNoMoreThanABatchOfImages) {
  const TempDir folder;
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 5; ++i) paths.push_back(paint(folder, std::to_string(i) + ".png", 100));
  MeanColour backbone;
  TorchEncoder encoder(backbone);
  ExtractOptions options;
  options.batch = 2;
  options.device = "cpu";
  EXPECT_EQ(embed_files(encoder, paths, options, Progress::none()).features.size(0), 5);
  EXPECT_EQ(backbone.batches, (std::vector<int64_t>{2, 2, 1}));
}

/// Signals the start of each batch's forward pass.
class Announcing : public MeanColour {
 public:
  at::Tensor forward(const at::Tensor& images) override {
    began.at(batches.size()).set_value();
    return MeanColour::forward(images);
  }
  std::array<std::promise<void>, 3> began;
};

TEST(EmbedFiles, TheBackboneGoesOnWhileABatchIsTaken) {
  const TempDir folder;
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 3; ++i) paths.push_back(paint(folder, std::to_string(i) + ".png", static_cast<uint8_t>(i)));
  Announcing backbone;
  TorchEncoder encoder(backbone);
  ExtractOptions options;
  options.batch = 1;
  options.device = "cpu";
  std::vector<size_t> taken;
  const auto take = [&](EmbeddedBatch&& batch) {
    taken.push_back(batch.numbers.front());
    if (taken.size() == backbone.began.size()) return;
    EXPECT_EQ(backbone.began.at(taken.size()).get_future().wait_for(std::chrono::seconds(20)),
              std::future_status::ready)
        << "batch " << taken.size() << " waits until the one before it is taken";
  };
  embed_batches(encoder, paths, options, take, Progress::none());
  EXPECT_EQ(taken, (std::vector<size_t>{0, 1, 2})) << "in order";
}

TEST(EmbedFiles, WhatTakingThrowsComesOut) {
  const TempDir folder;
  const std::vector<std::filesystem::path> paths = {paint(folder, "a.png", 1), paint(folder, "b.png", 2)};
  MeanColour backbone;
  TorchEncoder encoder(backbone);
  ExtractOptions options;
  options.batch = 1;
  options.device = "cpu";
  const auto take = [](EmbeddedBatch&&) { fail("the disk is full"); };
  EXPECT_THROW(embed_batches(encoder, paths, options, take, Progress::none()), Error);
}

/// Sees only the middle half of an image.
class MiddleColour : public MeanColour {
 public:
  Preprocessing preprocessing() const override {
    Preprocessing sizes;
    sizes.image_size = 4;
    sizes.resize = 8;
    return sizes;
  }
};

TEST(EmbedFiles, CutsTheMiddleOutOnce) {
  Image image{16, 16, std::vector<uint8_t>(16 * 16 * 3, 0)};
  for (size_t row = 4; row < 12; ++row) {
    for (size_t column = 4; column < 12; ++column) {
      const bool inner = row >= 6 && row < 10 && column >= 6 && column < 10;
      image.rgb[(row * 16 + column) * 3] = inner ? 0 : 255;
    }
  }
  const TempDir folder;
  write_file(folder / "ring.png", encode_png(image));
  MiddleColour backbone;
  TorchEncoder encoder(backbone);
  ExtractOptions options;
  options.device = "cpu";
  const at::Tensor features =
      tensor_of(embed_files(encoder, {folder / "ring.png"}, options, Progress::none()).features);
  EXPECT_GT(features[0][0].item<float>(), 0.5F)
      << "three quarters of the middle half are red, of its own middle nothing";
  EXPECT_TRUE(features.equal(tensor_of(extract_features(encoder, {image}, options))));
}

TEST(EmbedFiles, OfNothingReadableIsEmpty) {
  MeanColour backbone;
  TorchEncoder encoder(backbone);
  const EmbeddedFiles files = embed_files(encoder, {"/nowhere/a.png"}, {}, Progress::none());
  EXPECT_EQ(files.features.shape(), (Shape{0, 3}));
  EXPECT_EQ(files.unreadable.size(), 1U);
  ExtractOptions none;
  none.batch = 0;
  EXPECT_THROW(embed_files(encoder, {}, none, Progress::none()), UsageError);
}

}  // namespace
}  // namespace protocom
