#include "networks/torch_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.h"
#include "tensors/device.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Backbone> conv4() {
  NetworkOptions options;
  options.architecture = "conv4";
  options.image_size = 16;
  return make_backbone(options);
}

Array black(int64_t count, int64_t size) { return Array::zeros({count, size, size, 3}, NumberType::kUInt8); }

TEST(TorchEncoder, GivesFloatsAndHalfMapsWithoutBeingPrepared) {
  TorchEncoder encoder(conv4());
  const Array features = encoder.features(black(3, 16));
  EXPECT_EQ(features.shape(), (Shape{3, encoder.dim()}));
  EXPECT_EQ(features.type(), NumberType::kFloat32);
  const Array maps = encoder.maps(black(2, 16));
  EXPECT_EQ(maps.shape(), (Shape{2, 64, 1, 1}));
  EXPECT_EQ(maps.type(), NumberType::kFloat16);
}

TEST(TorchEncoder, SaysWhichImagesGiveTheLengthThatItHas) {
  TorchEncoder encoder(conv4());
  EXPECT_THAT(message_of([&] { encoder.features(black(1, 32)); }),
              HasSubstr("the backbone gives 256 features for images of 32x32 pixels and 64 for the 16x16"));
}

TEST(TorchEncoder, RefusesADeviceThatIsNotThere) {
  TorchEncoder encoder(conv4());
  EXPECT_THAT(usage_message_of([&] { encoder.prepare({"gpu"}); }), HasSubstr("'gpu'"));
}

TEST(RunsOnProcessor, AgreesWithLibTorch) {
  EXPECT_TRUE(runs_on_processor("cpu"));
  EXPECT_EQ(runs_on_processor("auto"), parse_device("auto").is_cpu());
  EXPECT_THAT(usage_message_of([] { runs_on_processor("gpu"); }), HasSubstr("'gpu'"));
}

}  // namespace
}  // namespace protocom::testing
