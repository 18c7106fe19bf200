#include "datasets/feature_preprocessing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "datasets/feature_set.h"
#include "io/npz.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

FeatureSet two_rows() {
  FeatureSet set;
  set.features = array_of(at::ones({2, 3}));
  set.labels = {0, 1};
  set.class_names = {"cat", "dog"};
  set.class_split = {Split::kBase, Split::kNovel};
  set.image_ids = {"a", "b"};
  return set;
}

TEST(FeaturePreprocessing, IsKeptInTheHeaderOfTheFeatures) {
  const TempDir folder;
  const Preprocessing clip = parse_preprocessing("clip");
  write_features(folder / "f.npz", two_rows(), {}, clip);
  ASSERT_TRUE(read_preprocessing(folder / "f.npz").has_value());
  EXPECT_TRUE(*read_preprocessing(folder / "f.npz") == clip);
  EXPECT_EQ(preprocessing_details(folder / "f.npz").at("preprocessing"), to_json(clip));
  EXPECT_EQ(read_features(folder / "f.npz").size(), 2);
}

TEST(FeaturePreprocessing, IsUnknownOfFilesThatDoNotSayIt) {
  const TempDir folder;
  write_features(folder / "f.npz", two_rows(), {});
  EXPECT_FALSE(read_preprocessing(folder / "f.npz").has_value());
  EXPECT_TRUE(preprocessing_details(folder / "f.npz").empty());
  NpzWriter writer(folder / "foreign.npz");
  writer.add("features", array_of(at::ones({2, 3})));
  writer.close();
  EXPECT_FALSE(read_preprocessing(folder / "foreign.npz").has_value());
}

}  // namespace
}  // namespace protocom::testing
