#include "recognizer/twin_examples.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/recognizer_file_support.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTwinDim = 16;

/// Returns an enrolment of images with these features [n, d], named by their rows.
ClassEnrolment images(const std::string& name, const at::Tensor& features) {
  ClassEnrolment made = enrolment(name, {}, {});
  made.examples.features = array_of(features);
  for (int64_t i = 0; i < features.size(0); ++i) made.examples.hashes.push_back(fmt::format("{} {}", name, i));
  return made;
}

TEST(TwinExamples, ArePhotosOfAlmostTheSameFeaturesInOneClassOrInTwo) {
  RecognizerSettings settings = small_settings();
  settings.feature_dim = kTwinDim;
  const TempDir folder;
  RecognizerFile file(make_file(folder, settings));
  // Eight orthogonal directions, which the mean changes little, and two that nearly repeat one of them.
  const at::Tensor apart = at::eye(kTwinDim).slice(0, 0, 8);
  at::Tensor near_first = apart.slice(0, 0, 1).clone(), near_last = apart.slice(0, 7, 8).clone();
  near_first[0][9] = 0.1F;  // cosine 1 / sqrt(1.01) = .995
  near_last[0][10] = 0.4F;  // 1 / sqrt(1.16) = .928
  file.enrol({images("a", at::cat({apart.slice(0, 0, 4), near_first})),
              images("b", at::cat({apart.slice(0, 4, 8), near_last}))});
  const std::vector<TwinExamples> one = find_twins(file.snapshot());
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].example, file.list_examples("a").front().id);
  EXPECT_EQ(one[0].twin, file.list_examples("a").back().id);
  EXPECT_EQ(one[0].class_name, "a");
  EXPECT_EQ(one[0].twin_class, "a");
  EXPECT_GT(one[0].similarity, kTwinSimilarity);
  file.enrol({images("c", apart.slice(0, 2, 3))});
  const std::vector<TwinExamples> two = find_twins(file.snapshot());
  ASSERT_THAT(two, SizeIs(2));
  EXPECT_NEAR(two[0].similarity, 1, 1e-6) << "the most similar first";
  EXPECT_EQ(two[0].class_name, "a");
  EXPECT_EQ(two[0].twin_class, "c");
}

TEST(TwinExamples, AreNoneWhereNothingIsEnrolledOrAllIsZero) {
  const TempDir folder;
  RecognizerFile file(make_file(folder));
  EXPECT_THAT(find_twins(file.snapshot()), IsEmpty());
  file.enrol({enrolment("a", {{0, 0}, {0, 0}}, {"x", "y"})});
  EXPECT_THAT(find_twins(file.snapshot()), IsEmpty());
}

}  // namespace
}  // namespace protocom::testing
