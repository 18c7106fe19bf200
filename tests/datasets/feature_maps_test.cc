#include "datasets/feature_maps.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/safetensors.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

FeatureMaps two_maps() { return {array_of(at::arange(24).reshape({2, 3, 2, 2}).to(at::kHalf)), {"a", "b"}, "abc"}; }

TEST(FeatureMaps, ComeBackFromTheirFile) {
  const TempDir folder;
  write_feature_maps(folder / "maps.safetensors", two_maps(), Provenance{"extract", nlohmann::json::object(), 0, {}});
  const FeatureMaps read = read_feature_maps(folder / "maps.safetensors");
  EXPECT_TRUE(at::equal(tensor_of(read.maps), tensor_of(two_maps().maps)));
  EXPECT_EQ(read.image_ids, two_maps().image_ids);
  EXPECT_EQ(read.backbone_hash, "abc");
  EXPECT_EQ(read_any_header(folder / "maps.safetensors").details.at("channels"), 3);
}

TEST(FeatureMaps, RefusesWhatAreNoMaps) {
  const TempDir folder;
  FeatureMaps maps = two_maps();
  maps.image_ids.pop_back();
  EXPECT_THAT(message_of([&] { write_feature_maps(folder / "few", maps, {}); }),
              HasSubstr("one image id per map, found 2 maps and 1 ids"));
  maps = two_maps();
  maps.maps = maps.maps.reshaped({2, 12});
  EXPECT_THAT(message_of([&] { write_feature_maps(folder / "flat", maps, {}); }), HasSubstr("expected [n, c, h, w]"));
  write_safetensors(folder / "foreign", {{"maps", two_maps().maps}}, {});
  EXPECT_THAT(message_of([&] { read_feature_maps(folder / "foreign"); }),
              HasSubstr("is not feature maps: it has no protocom header"));
}

TEST(FeatureMaps, AreThoseOfFeaturesThatDoNotSayTheirBackbone) {
  FeatureSet features;
  features.image_ids = two_maps().image_ids;
  EXPECT_NO_THROW(check_same_images(two_maps(), features));
  features.backbone_hash = "another";
  EXPECT_THAT(message_of([&] { check_same_images(two_maps(), features); }), HasSubstr("different backbones"));
}

TEST(FeatureMaps, RefusesAFileThatLiesAboutItself) {
  const TempDir folder;
  ArtefactHeader header = make_header("feature-maps", 1, {"extract", nlohmann::json::object(), 0, {}});
  const auto message = [&](const Array& maps, const nlohmann::json& details, const std::string& ids) {
    header.details = details;
    write_safetensors(folder / "lie", {{"maps", maps}}, {{"protocom", header.to_json().dump()}, {"image_ids", ids}});
    return message_of([&] { read_feature_maps(folder / "lie"); });
  };
  const Array maps = two_maps().maps;
  EXPECT_THAT(message(maps, {{"backbone_hash", 5}}, R"(["a", "b"])"), HasSubstr("/lie: "));
  EXPECT_THAT(message(maps, nlohmann::json::array({1}), R"(["a", "b"])"), HasSubstr("/lie"));
  EXPECT_THAT(message(maps, nlohmann::json::object(), "[1, 2]"), HasSubstr("'image_ids' is damaged"));
  EXPECT_THAT(message(maps, nlohmann::json::object(), R"(["a"])"), HasSubstr("expected one image id per map"));
  EXPECT_THAT(message(maps.to(NumberType::kFloat32), nlohmann::json::object(), R"(["a", "b"])"),
              HasSubstr("expected Half"));
}

TEST(FeatureMaps, BelongToTheFeaturesOfTheSameImagesByTheSameBackbone) {
  FeatureSet features;
  features.image_ids = {"a", "b"};
  features.backbone_hash = "abc";
  EXPECT_NO_THROW(check_same_images(two_maps(), features));
  features.backbone_hash = "other";
  EXPECT_THAT(message_of([&] { check_same_images(two_maps(), features); }), HasSubstr("different backbones"));
  features.backbone_hash = "abc";
  features.image_ids = {"a", "c"};
  EXPECT_THAT(message_of([&] { check_same_images(two_maps(), features); }),
              HasSubstr("image 1 is 'b' among the feature maps and 'c' among the features"));
  features.image_ids = {"a"};
  EXPECT_THAT(message_of([&] { check_same_images(two_maps(), features); }), HasSubstr("of 2 images and features of 1"));
}

}  // namespace
}  // namespace protocom
