#include "encoders/preprocessing_trial.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "base/error.h"
#include "images/image.h"
#include "io/files.h"
#include "networks/backbone.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FeatureSet features_of(const std::vector<std::vector<float>>& rows, const std::vector<int64_t>& labels) {
  FeatureSet set;
  std::vector<float> numbers;
  for (const auto& row : rows) numbers.insert(numbers.end(), row.begin(), row.end());
  set.features = Array::of(numbers, {static_cast<int64_t>(rows.size()), 2});
  set.labels = labels;
  return set;
}

// Relative to the centre (1/2, 0) the second class has images at (-3/2, 1) and (1/2, -1): for the first of them the
// mean including it, (-1/2, 0), has a cosine of .83, the other image -.87, the other class -.83.
TEST(RightByNearestMean, LeavesTheImageOutOfItsClass) {
  const FeatureSet set = features_of({{1, 0}, {1, 0}, {-1, 1}, {1, -1}}, {0, 0, 1, 1});
  EXPECT_THAT(right_by_nearest_mean(set), ElementsAre(100, 100, 0, 0));
}

TEST(RightByNearestMean, DoesNotSeeWhatAllFeaturesHaveInCommon) {
  const std::vector<int64_t> labels = {0, 0, 1, 1};
  const std::vector<std::vector<float>> rows = {{1, 0.1F}, {1, -0.1F}, {-1, 0.2F}, {-1, 0}};
  std::vector<std::vector<float>> moved = rows;
  for (auto& row : moved) row[1] += 1000;
  EXPECT_EQ(right_by_nearest_mean(features_of(rows, labels)), right_by_nearest_mean(features_of(moved, labels)));
}

ImageDataset dataset_of(const std::vector<std::pair<Split, int64_t>>& classes) {
  ImageDataset dataset;
  for (const auto& [split, images] : classes) {
    const auto label = static_cast<int64_t>(dataset.class_names.size());
    for (int64_t i = 0; i < images; ++i)
      dataset.items.push_back({fmt::format("{}/{}", label, i), fmt::format("{}-{}.png", label, i), label});
    dataset.class_names.push_back(fmt::format("class {}", label));
    dataset.class_split.push_back(split);
  }
  return dataset;
}

TEST(FewBaseImages, AreSpreadOverBaseClassesThatHaveTwo) {
  const ImageDataset all = dataset_of({{Split::kBase, 4},
                                       {Split::kNovel, 9},
                                       {Split::kBase, 1},
                                       {Split::kBase, 3},
                                       {Split::kVal, 5},
                                       {Split::kBase, 2}});
  const ImageDataset few = few_base_images(all, 2, 2);
  EXPECT_THAT(few.class_names, ElementsAre("class 0", "class 3"));
  std::vector<std::string> ids;
  for (const ImageItem& item : few.items) ids.push_back(item.id);
  EXPECT_THAT(ids, ElementsAre("0/0", "0/2", "3/0", "3/1"));
  EXPECT_EQ(few.items.back().label, 1);
  EXPECT_EQ(few_base_images(all, 9, 9).items.size(), 4u + 3 + 2);
  EXPECT_THAT(message_of([&] {
                few_base_images(dataset_of({{Split::kBase, 5}, {Split::kVal, 5}}), 9, 9);
              }),
              HasSubstr("two base classes"));
}

/// Returns two classes of three grey pictures, one darker than the other.
ImageDataset greys(const std::filesystem::path& folder) {
  ImageDataset dataset = dataset_of({{Split::kBase, 3}, {Split::kBase, 3}});
  for (ImageItem& item : dataset.items) {
    item.path = folder / item.path;
    const auto grey = static_cast<uint8_t>(10 * item.label + 20);
    write_file(item.path, encode_png({16, 16, std::vector<uint8_t>(size_t{16} * 16 * 3, grey)}));
  }
  return dataset;
}

/// Writes an encoder of mean colours clamped to [0, 1]: one that normalises by itself.
std::filesystem::path plain_encoder(const std::filesystem::path& folder) {
  torch::jit::Module module("plain");
  module.define("def forward(self, x):\n  return torch.clamp(x, 0, 1).mean([2, 3]) * torch.tensor([1., 1., 2.]) + 1\n");
  module.save((folder / "plain.pt").string());
  return folder / "plain.pt";
}

TEST(TryPreprocessing, FindsWhatAnEncoderTakesOnTheImagesThatCanBeRead) {
  const TempDir folder;
  const ImageDataset dataset = greys(folder.path());
  write_file(dataset.items[1].path, "no image");
  PreprocessingTrials trials;
  trials.presets = {"half:size=16", "plain:size=16"};
  const auto tried = try_preprocessing(plain_encoder(folder.path()), dataset, trials, Progress::none());
  ASSERT_EQ(tried.size(), 2u);
  EXPECT_EQ(tried[0].preprocessing.mean, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_THAT(tried[0].right, ElementsAre(100, 100, 0, 0, 0)) << "all are black to it, and the first class is named";
  EXPECT_THAT(tried[1].right, ElementsAre(100, 100, 100, 100, 100));
}

TEST(TryPreprocessing, RefusesAFileThatSaysWhatItTakes) {
  const TempDir folder;
  NetworkOptions options;
  options.architecture = "conv4";
  options.image_size = 16;
  write_backbone(folder / "own.npz", *make_backbone(options), options, {});
  PreprocessingTrials trials;
  trials.presets = common_presets(16);
  EXPECT_THAT(
      message_of([&] { try_preprocessing(folder / "own.npz", greys(folder.path()), trials, Progress::none()); }),
      HasSubstr("states its preprocessing"));
}

}  // namespace
}  // namespace protocom::testing
