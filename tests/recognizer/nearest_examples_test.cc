#include "recognizer/detail/nearest_examples.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recognizer/store_support.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSize = 6, kKinds = 4, kEach = 10;

/// Returns images that agree within a class in three weak dimensions; three strong ones are uninformative.
at::Tensor images_of(int64_t k, int64_t count, uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  at::Tensor images = 0.3 * at::randn({count, kSize}, generator);
  images.slice(1, 3) = 6 * at::randn({count, 3}, generator);
  images.slice(1, 0, 3) += 3 * at::tensor({k & 1 ? 1.0F : -1.0F, k & 2 ? 1.0F : -1.0F, 1.0F});
  return images;
}

class NearestOfPlda : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.fitted = FittedMethod{make_method("plda"), kSize, {}};
    snapshot_.enrolled.feature_dim = kSize;
    snapshot_.feature_sum.assign(kSize, 0);
    for (int64_t k = 0; k < kKinds; ++k) enrol("class " + std::to_string(k), images_of(k, kEach, 10 + k));
  }

  void enrol(const std::string& name, const at::Tensor& features) {
    StoredClass one;
    one.name = name;
    one.description = {"", Array::zeros({0}), Array::zeros({0}), "nothing"};
    one.features = array_of(features);
    one.count = features.size(0);
    snapshot_.enrolled.classes.push_back(one);
    snapshot_.examples.emplace_back();
    for (int64_t i = 0; i < one.count; ++i) snapshot_.examples.back().push_back({next_++, "photo"});
    at::Tensor sum = at::from_blob(snapshot_.feature_sum.data(), {kSize}, at::kDouble);
    sum += features.to(at::kDouble).sum(0);
    snapshot_.feature_count += one.count;
  }

  static std::vector<std::vector<int64_t>> all_classes(int64_t rows) {
    return std::vector<std::vector<int64_t>>(static_cast<size_t>(rows), {0, 1, 2, 3});
  }

  StoreModel model_;
  RecognizerSnapshot snapshot_;
  int64_t next_ = 1;
};

TEST_F(NearestOfPlda, AreNearWhereTheMethodTellsClassesApart) {
  const ClassScorer scorer(snapshot_.enrolled, model_, {"plda"});
  NearestExamples nearest;
  nearest.update(scorer, std::vector<int64_t>(kKinds, -1));
  int64_t agree = 0, asked = 0, raw_agree = 0;
  const at::Tensor center = (at::tensor(snapshot_.feature_sum) / snapshot_.feature_count).to(at::kFloat);
  for (int64_t k = 0; k < kKinds; ++k) {
    const at::Tensor queries = images_of(k, 20, 50 + k);
    const auto found = nearest.find(snapshot_, scorer, all_classes(20), array_of(queries), 2);
    for (int64_t i = 0; i < 20; ++i, ++asked) {
      ASSERT_THAT(found[i], SizeIs(2));
      EXPECT_GE(found[i][0].similarity, found[i][1].similarity);
      agree += found[i][0].class_name == "class " + std::to_string(k);
      double best = -2;
      int64_t of = -1;
      for (int64_t c = 0; c < kKinds; ++c) {
        const at::Tensor rows = tensor_of(snapshot_.enrolled.classes[c].features) - center;
        const double most = at::cosine_similarity(rows, (queries[i] - center).unsqueeze(0)).max().item<double>();
        if (most > best) of = c;
        best = std::max(best, most);
      }
      raw_agree += of == k;
    }
  }
  EXPECT_GE(agree, 68) << "of " << asked << "; by the features themselves " << raw_agree;
  EXPECT_LT(raw_agree + 4, agree);
}

TEST_F(NearestOfPlda, FollowWhatIsEnrolled) {
  const ClassScorer scorer(snapshot_.enrolled, model_, {"plda"});
  NearestExamples nearest;
  nearest.update(scorer, std::vector<int64_t>(kKinds, -1));
  const at::Tensor query = images_of(1, 1, 70);
  nearest.find(snapshot_, scorer, all_classes(1), array_of(query), 1);
  enrol("the same", query);
  const ClassScorer after(snapshot_.enrolled, model_, {"plda"});
  nearest.update(after, {0, 1, 2, 3, -1});
  const auto found = nearest.find(snapshot_, after, {{0, 1, 2, 3, 4}}, array_of(query), 1);
  EXPECT_EQ(found[0][0].class_name, "the same");
  EXPECT_NEAR(found[0][0].similarity, 1, 1e-5);
}

TEST_F(NearestOfPlda, OfAnotherClassSayWhy) {
  std::vector<StoredClass>& classes = snapshot_.enrolled.classes;
  classes[2].count = 0;
  const std::vector<NearImage> nearest = {{1, "class 0", "photo", 0.9}};
  EXPECT_THAT(note_on_nearest(classes[0], nearest), IsEmpty());
  EXPECT_THAT(note_on_nearest(classes[0], {}), IsEmpty());
  EXPECT_THAT(note_on_nearest(classes[1], nearest), HasSubstr("all 10 of class 1 together fit better"));
  EXPECT_THAT(note_on_nearest(classes[2], nearest), HasSubstr("no photo"));
}

}  // namespace
}  // namespace protocom::testing
