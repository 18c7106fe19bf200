// Evaluation of features that stay in their file.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "eval/evaluate.h"
#include "io/mapped_rows.h"
#include "io/safetensors.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

class MappedEvaluation : public ::testing::Test {
 protected:
  void SetUp() override { set_mapped_from(0); }
  void TearDown() override { set_mapped_from(before_); }

  /// Returns the same set with its rows in a file.
  [[nodiscard]] FeatureSet in_file(FeatureSet features) const {
    write_safetensors(folder_ / "f.safetensors", {{"features", features.features}}, {});
    features.features = *map_array_rows(read_safetensors(folder_ / "f.safetensors").tensors.at("features"));
    return features;
  }

  static std::vector<MethodScores> run(const FeatureSet& features, const EpisodeList& episodes) {
    ScoringOptions options;
    options.methods = make_methods({"mean", "knn", "simple-shot", "plda"});
    return evaluate({features}, episodes, options, Progress::none());
  }

  const int64_t before_ = mapped_from();
  TempDir folder_;
};

TEST_F(MappedEvaluation, IsThatOfFeaturesInMemory) {
  const FeatureSet features = toy_world().features;
  const EpisodeList episodes = sample_episodes(features, {Split::kNovel, {2, 1, 2}, 40, 3});
  const FeatureSet mapped = in_file(features);
  ASSERT_TRUE(is_mapped(mapped.features));
  const auto expected = run(features, episodes), found = run(mapped, episodes);
  for (size_t m = 0; m < expected.size(); ++m) {
    EXPECT_EQ(found[m].accuracy, expected[m].accuracy);
    ASSERT_EQ(found[m].cosine.size(), expected[m].cosine.size());
    for (size_t i = 0; i < expected[m].cosine.size(); ++i) EXPECT_NEAR(found[m].cosine[i], expected[m].cosine[i], 1e-6);
  }
}

TEST_F(MappedEvaluation, ARowThatCannotBeComputedWithMattersWhereItIsUsed) {
  FeatureSet features = toy_world().features;
  const EpisodeList episodes = sample_episodes(features, {Split::kNovel, {2, 1, 2}, 3, 3});
  features.features = features.features.copy();
  *features.features.row(episodes.episodes[1].query[0][0]).mutable_data<float>() =
      std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of([&] { run(in_file(features), episodes); }), HasSubstr("NaN or infinity"));
}

}  // namespace
}  // namespace protocom::testing
