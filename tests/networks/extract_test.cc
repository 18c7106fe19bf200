#include "encoders/extract.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "networks/torch_encoder.h"
#include "support/bfloat16.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

PackedImages random_pack(int64_t count, int64_t size) {
  at::manual_seed(1);
  PackedImages pack;
  pack.pixels = array_of(at::randint(0, 256, {count, size, size, 3}, at::kByte));
  pack.labels = numbers_of(at::arange(count, at::kLong).remainder(2));
  pack.class_names = {"cat", "dog"};
  pack.class_split = {Split::kBase, Split::kNovel};
  for (int64_t i = 0; i < count; ++i) pack.image_ids.push_back("image-" + std::to_string(i));
  return pack;
}

std::unique_ptr<Encoder> conv4(int64_t size) {
  at::manual_seed(2);
  NetworkOptions options;
  options.architecture = "conv4";
  options.image_size = size;
  return std::make_unique<TorchEncoder>(make_backbone(options));
}

/// Returns each image's mean red, green and blue: features that can be computed by hand.
class ScaledMeanColour : public Backbone {
 public:
  at::Tensor forward(const at::Tensor& images) override {
    most = std::max(most, images.size(0));
    return images.mean({2, 3}) * factor;
  }
  int64_t dim() const override { return 3; }
  int64_t image_size() const override { return 4; }
  void set_mode(BackboneMode next) override { mode = next; }
  void to(c10::Device) override {}
  std::vector<std::pair<std::string, at::Tensor>> state_dict() const override { return {}; }
  std::vector<at::Tensor> parameters() const override { return {}; }

  float factor = 1;
  int64_t most = 0;  ///< images of the largest forward pass
  BackboneMode mode = BackboneMode::kTrain;
};

TEST(Extract, PixelsBecomeZeroToOneWithChannelsFirst) {
  at::Tensor pixels = at::zeros({1, 2, 2, 3}, at::kByte);
  pixels[0][1][0][2] = 255;  // blue, second row, first column
  pixels[0][0][1][0] = 51;   // red, first row, second column
  const at::Tensor images = to_float_images(pixels);
  EXPECT_EQ(images.sizes(), (std::vector<int64_t>{1, 3, 2, 2}));
  EXPECT_FLOAT_EQ(images[0][2][1][0].item<float>(), 1);
  EXPECT_FLOAT_EQ(images[0][0][0][1].item<float>(), 0.2F);
  EXPECT_FLOAT_EQ(images.sum().item<float>(), 1.2F);
}

TEST(Extract, FeaturesComeInTheOrderOfTheImagesWhateverTheBatch) {
  const PackedImages pack = random_pack(7, 4);
  const at::Tensor expected = tensor_of(pack.pixels).to(at::kDouble).mean({1, 2}) / 255;
  for (const int64_t batch : {1, 3, 7, 100}) {
    ScaledMeanColour backbone;
    TorchEncoder encoder(backbone);
    ExtractOptions options;
    options.batch = batch;
    const FeatureSet features = extract_features(encoder, pack, options, Progress::none());
    EXPECT_TRUE(at::allclose(tensor_of(features.features).to(at::kDouble), expected, 1e-5, 1e-6)) << "batch " << batch;
    EXPECT_EQ(backbone.mode, BackboneMode::kUse);
  }
}

TEST(Extract, LargeImagesGoThroughTheProcessorAFewAtATime) {
  ScaledMeanColour backbone;
  TorchEncoder encoder(backbone);
  ExtractOptions options;
  options.device = "cpu";
  const PackedImages pack = random_pack(11, 224);  // 64 images of 64 pixels are as large as 5 of these
  const FeatureSet features = extract_features(encoder, pack, options, Progress::none());
  EXPECT_EQ(backbone.most, 5);
  EXPECT_TRUE(at::allclose(tensor_of(features.features), to_float_images(tensor_of(pack.pixels)).mean({2, 3})));
  extract_features(encoder, random_pack(100, 4), options, Progress::none());
  EXPECT_EQ(backbone.most, 64) << "small ones by the batch requested";
}

TEST(Extract, KeepsNamesSplitsLabelsAndIds) {
  ScaledMeanColour backbone;
  TorchEncoder encoder(backbone);
  const PackedImages pack = random_pack(5, 4);
  const FeatureSet features = extract_features(encoder, pack, {}, Progress::none());
  EXPECT_EQ(features.class_names, pack.class_names);
  EXPECT_EQ(features.class_split, pack.class_split);
  EXPECT_EQ(features.image_ids, pack.image_ids);
  EXPECT_EQ(features.labels, pack.labels);
}

TEST(Extract, DecodedImagesGiveTheFeaturesOfTheSameImagesInAPack) {
  const auto backbone = conv4(16);
  const PackedImages pack = random_pack(5, 16);
  std::vector<Image> images;
  for (int64_t i = 0; i < 5; ++i) {
    Image image{16, 16, std::vector<uint8_t>(16 * 16 * 3)};
    std::memcpy(image.rgb.data(), pack.pixels.row(i).data<uint8_t>(), image.rgb.size());
    images.push_back(image);
  }
  ExtractOptions options;
  options.batch = 2;
  const at::Tensor expected = tensor_of(extract_features(*backbone, pack, options, Progress::none()).features);
  EXPECT_TRUE(at::allclose(tensor_of(extract_features(*backbone, images, options)), expected, 1e-5, 1e-6));
}

TEST(Extract, BFloat16FeaturesPointWhereFloat32FeaturesPoint) {
  const auto backbone = conv4(32);
  const PackedImages pack = random_pack(4, 32);
  ExtractOptions low;
  low.precision = Precision::kBFloat16;
  if (testing::refuses_bfloat16()) {
    EXPECT_THROW(extract_features(*backbone, pack, low, Progress::none()), UsageError);
    return;
  }
  const at::Tensor exact = tensor_of(extract_features(*backbone, pack, {}, Progress::none()).features);
  const at::Tensor rounded = tensor_of(extract_features(*backbone, pack, low, Progress::none()).features);
  EXPECT_FALSE(at::equal(exact, rounded));
  EXPECT_GT(at::cosine_similarity(exact, rounded).min().item<float>(), 0.999);
}

TEST(Extract, FeatureMapsComeInTheOrderOfTheImagesWhateverTheBatch) {
  const testing::TempDir folder;
  const auto backbone = conv4(32);  // features are the maps' values in order
  const PackedImages pack = random_pack(5, 32);
  const at::Tensor features = tensor_of(extract_features(*backbone, pack, {}, Progress::none()).features);
  for (const int64_t batch : {2, 5}) {
    ExtractOptions options;
    options.batch = batch;
    options.scratch_folder = folder.path();
    const FeatureMaps maps = extract_feature_maps(*backbone, pack, options, Progress::none());
    EXPECT_EQ(maps.maps.shape(), (Shape{5, 64, 2, 2}));
    EXPECT_EQ(maps.image_ids, pack.image_ids);
    EXPECT_TRUE(at::allclose(tensor_of(maps.maps).to(at::kFloat).flatten(1), features, 1e-3, 1e-4))
        << "batch " << batch;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // the scratch file has no name
}

// The program makes its options before it knows its task.
TEST(Extract, OptionsNeedNoFolderOfTemporaryFiles) {
  ASSERT_EQ(::setenv("TMPDIR", "/nonexistent", 1), 0);
  EXPECT_NO_THROW(ExtractOptions());
  ::unsetenv("TMPDIR");
}

TEST(Extract, ABackboneWithoutMapsSaysSo) {
  ScaledMeanColour backbone;
  TorchEncoder encoder(backbone);
  EXPECT_THAT(testing::message_of([&] { extract_feature_maps(encoder, random_pack(1, 4), {}, Progress::none()); }),
              ::testing::HasSubstr("no feature maps"));
}

TEST(Extract, NamesTheImageWhoseFeaturesAreNotFinite) {
  ScaledMeanColour backbone;
  TorchEncoder encoder(backbone);
  backbone.factor = std::numeric_limits<float>::infinity();  // infinity times 0 is NaN
  PackedImages pack = random_pack(3, 4);
  try {
    extract_features(encoder, pack, {}, Progress::none());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("image 'image-0'"));
  }
}

TEST(Extract, NamesTheImageWhoseFeaturesOverflowWhenSquared) {
  ScaledMeanColour backbone;
  TorchEncoder encoder(backbone);
  backbone.factor = 1e25F;
  EXPECT_THAT(testing::message_of([&] { extract_features(encoder, random_pack(3, 4), {}, Progress::none()); }),
              ::testing::AllOf(::testing::HasSubstr("image 'image-0'"), ::testing::HasSubstr("more than 1e+08")));
  EXPECT_THAT(testing::message_of([&] {
                extract_features(encoder, std::vector<Image>{Image{4, 4, std::vector<uint8_t>(48, 9)}});
              }),
              ::testing::HasSubstr("more than 1e+08"));
}

TEST(Extract, WarnsOfAnEncoderWhoseFeaturesAreAllAlike) {
  const testing::Logged logged;
  at::manual_seed(1);
  const at::Tensor different = at::rand({20, 8});
  warn_of_alike(array_of(different));
  warn_of_alike(array_of(at::ones({3, 8})));  // too few to decide
  EXPECT_EQ(logged.text(), "");
  warn_of_alike(array_of(1000 + different));
  EXPECT_THAT(logged.text(), ::testing::HasSubstr("20 images are nearly equal (mean cosine 1.0000)"));
}

TEST(Extract, RefusesAnEmptyPackAndABatchOfNothing) {
  ScaledMeanColour backbone;
  TorchEncoder encoder(backbone);
  EXPECT_THROW(extract_features(encoder, random_pack(0, 4), {}, Progress::none()), Error);
  EXPECT_THROW(extract_features(encoder, std::vector<Image>{}), Error);
  ExtractOptions options;
  options.batch = 0;
  EXPECT_THROW(extract_features(encoder, random_pack(1, 4), options, Progress::none()), UsageError);
}

TEST(Extract, SaysSoWhenTheBackboneGivesAnotherLengthAtThisImageSize) {
  const auto backbone = conv4(16);  // 64 features at 16 pixels, 256 at 32
  EXPECT_THROW(extract_features(*backbone, random_pack(2, 32), {}, Progress::none()), Error);
}

}  // namespace
}  // namespace protocom
