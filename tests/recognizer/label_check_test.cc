#include "recognizer/label_check.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recognizer/recognizer_support.h"
#include "recognizer/twin_examples.h"
#include "store/recognizer_file_support.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kLabelDim = 8;

/// Returns features of images around a centre.
at::Tensor around(const at::Tensor& centre, int64_t images, int seed) {
  auto generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed));
  return centre + 0.3 * at::randn({images, kLabelDim}, generator);
}

at::Tensor centre_of(int64_t axis) { return 3 * at::eye(kLabelDim).slice(0, axis, axis + 1); }

/// Adds a class of these features, whose images have ids from `first` on.
void add(const std::string& name, const at::Tensor& features, RecognizerSnapshot& to) {
  StoredClass one;
  one.name = name;
  one.description = description(1);
  one.count = features.size(0);
  one.features = array_of(features);
  to.enrolled.classes.push_back(one);
  std::vector<KeptExample>& examples = to.examples.emplace_back();
  for (int64_t i = 0; i < one.count; ++i)
    examples.push_back({static_cast<int64_t>(100 * to.examples.size()) + i, fmt::format("{}/{}.jpg", name, i)});
}

class CheckedLabels : public ::testing::Test {
 protected:
  CheckedLabels() {
    snapshot_.enrolled.feature_dim = kLabelDim;
    snapshot_.enrolled.attributes = {"tail"};
  }
  LabelCheck check() const {
    ClassScorerOptions options;
    options.method = "mean";
    options.moments = false;  // so few and so similar images would count as one moment
    const ClassScorer scorer(snapshot_.enrolled, model_, options);
    return check_labels(scorer, snapshot_, 1, Progress::none());
  }
  StoreModel model_ = store_model(std::vector<float>(kLabelDim));
  RecognizerSnapshot snapshot_;
};

TEST_F(CheckedLabels, NameTheImageThatLiesInAnotherClass) {
  add("crow", at::cat({around(centre_of(0), 6, 1), around(centre_of(1), 1, 9)}), snapshot_);
  add("dove", around(centre_of(1), 6, 2), snapshot_);
  add("owl", around(centre_of(2), 6, 3), snapshot_);
  const LabelCheck found = check();
  EXPECT_EQ(found.asked, 19);
  ASSERT_THAT(found.misplaced, SizeIs(1));
  EXPECT_EQ(found.misplaced[0].example, 106);
  EXPECT_EQ(found.misplaced[0].source, "crow/6.jpg");
  EXPECT_EQ(found.misplaced[0].class_name, "crow");
  EXPECT_EQ(found.misplaced[0].likelier, "dove");
  EXPECT_GT(found.misplaced[0].likelier_probability, 0.5);
  EXPECT_THAT(found.confused, IsEmpty());
  ASSERT_THAT(found.classes, SizeIs(3));
  EXPECT_EQ(found.classes[0].name, "crow") << "it is told worst";
  EXPECT_EQ(found.classes[0].right, 6);
  EXPECT_EQ(found.classes[0].asked, 7);
  EXPECT_THAT(sentence_of_weakest(found), HasSubstr("help most: 'crow' (6 of 7 right by leave-one-out)"));
}

TEST_F(CheckedLabels, NameNothingWhereAllLieRight) {
  add("crow", around(centre_of(0), 6, 1), snapshot_);
  add("dove", around(centre_of(1), 6, 2), snapshot_);
  add("owl", around(centre_of(2), 6, 3), snapshot_);
  const LabelCheck found = check();
  EXPECT_THAT(found.misplaced, IsEmpty());
  EXPECT_THAT(found.confused, IsEmpty());
  EXPECT_EQ(sentence_of_weakest(found), "");
}

TEST_F(CheckedLabels, NameClassesThatMayBeOne) {
  add("crow", around(centre_of(0), 8, 1), snapshot_);
  add("corvid", around(centre_of(0), 8, 4), snapshot_);
  add("owl", around(centre_of(2), 8, 3), snapshot_);
  const LabelCheck found = check();
  ASSERT_THAT(found.confused, SizeIs(1));
  EXPECT_EQ(found.confused[0].first, "crow");
  EXPECT_EQ(found.confused[0].second, "corvid");
  EXPECT_EQ(found.confused[0].asked, 16);
  EXPECT_TRUE(found.confused[0].same);
  EXPECT_THAT(sentence_of(found.confused[0]), HasSubstr("'crow' and 'corvid' may be one class under two names: "));
}

TEST_F(CheckedLabels, SayNothingOfASingleClassAndOfSingleImages) {
  add("crow", around(centre_of(0), 6, 1), snapshot_);
  EXPECT_EQ(check().asked, 0);
  snapshot_ = {};
  snapshot_.enrolled.feature_dim = kLabelDim;
  snapshot_.enrolled.attributes = {"tail"};
  add("crow", around(centre_of(0), 1, 1), snapshot_);
  add("dove", around(centre_of(1), 1, 2), snapshot_);
  const LabelCheck found = check();
  EXPECT_EQ(found.asked, 0);
  EXPECT_THAT(found.classes, IsEmpty());
}

TEST(ImagesInTwoClasses, AreCopiesAndNearlyEqualPictures) {
  RecognizerSettings settings = small_settings();
  settings.feature_dim = 16;
  const TempDir folder;
  RecognizerFile file(make_file(folder, settings));
  const auto enrolled = [&](const std::string& name, const at::Tensor& features, std::vector<std::string> hashes) {
    ClassEnrolment made = enrolment(name, {}, {});
    made.examples.features = array_of(features);
    made.examples.hashes = std::move(hashes);
    return made;
  };
  const at::Tensor apart = at::eye(16).slice(0, 0, 8);
  at::Tensor near = apart.slice(0, 1, 2).clone();
  near[0][9] = 0.1F;
  file.enrol(
      {enrolled("a", apart.slice(0, 0, 4), {"0", "1", "2", "3"}),
       enrolled("b", at::cat({apart.slice(0, 0, 1), near, apart.slice(0, 4, 8)}), {"0", "x", "4", "5", "6", "7"})});
  const std::vector<SharedImage> found = images_in_two_classes(file, file.snapshot());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_TRUE(found[0].copy);
  EXPECT_EQ(found[0].class_name, "a");
  EXPECT_EQ(found[0].twin_class, "b");
  EXPECT_FALSE(found[1].copy);
  EXPECT_THAT(sentence_of(found[0]), HasSubstr("the same photo is in 'a' (example 1, "));
  file.enrol({enrolled("a", apart.slice(0, 4, 5), {"4"})});
  const std::vector<SharedImage> more = images_in_two_classes(file, file.snapshot());
  ASSERT_THAT(more, SizeIs(3)) << "a copy is not listed again as nearly equal";
  const auto late = std::find_if(more.begin(), more.end(), [](const SharedImage& one) { return one.twin == 11; });
  ASSERT_NE(late, more.end());
  EXPECT_TRUE(late->copy);
  EXPECT_LT(late->example, late->twin);
  EXPECT_EQ(late->twin_class, "a");
}

}  // namespace
}  // namespace protocom::testing
