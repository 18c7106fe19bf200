#include "recognizer/photo_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recognizer/recognizer_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

/// Returns two distant groups of `count` images, one class each.
RecognizerSnapshot two_groups(int64_t count) {
  RecognizerSnapshot made;
  for (int64_t k = 0; k < 2; ++k) {
    StoredClass own;
    own.name = k == 0 ? "one" : "two";
    own.count = count;
    std::vector<float> numbers;
    std::vector<KeptExample> examples;
    for (int64_t i = 0; i < count; ++i) {
      const auto angle = static_cast<float>(k) * 1.5F + 0.2F * static_cast<float>(i) / static_cast<float>(count);
      for (const float value : {std::cos(angle), std::sin(angle), 0.01F * static_cast<float>(i % 3)})
        numbers.push_back(value * static_cast<float>(1 + i));  // lengths do not matter
      examples.push_back({100 * k + i, ""});
    }
    own.features = array_of(at::tensor(numbers).view({count, 3}));
    made.enrolled.classes.push_back(own);
    made.examples.push_back(examples);
  }
  return made;
}

TEST(PhotoMap, PutsImagesThatLookAlikeBesideOneAnother) {
  const std::vector<MappedPhoto> map = map_photos(two_groups(12));
  ASSERT_EQ(map.size(), 24U);
  const auto distance = [&](size_t a, size_t b) { return std::hypot(map[a].x - map[b].x, map[a].y - map[b].y); };
  for (size_t i = 0; i < map.size(); ++i) {
    EXPECT_GE(std::min(map[i].x, map[i].y), 0);
    EXPECT_LE(std::max(map[i].x, map[i].y), 1);
    size_t nearest = i == 0 ? 1 : 0;
    for (size_t k = 0; k < map.size(); ++k) {
      if (k != i && distance(i, k) < distance(i, nearest)) nearest = k;
    }
    EXPECT_EQ(map[i].class_name, map[nearest].class_name) << i;
  }
  EXPECT_EQ(map[13].example, 101);
}

TEST(PhotoMap, TakesManyEvenlyAndRefusesFew) {
  const std::vector<MappedPhoto> map = map_photos(two_groups(30), 20);
  ASSERT_EQ(map.size(), 20U);
  EXPECT_EQ(std::count_if(map.begin(), map.end(), [](const MappedPhoto& one) { return one.class_name == "one"; }), 10);
  EXPECT_EQ(message_of([] { map_photos(two_groups(4)); }), "a map needs 10 photos, found 8");
}

TEST(PhotoMap, HasUnlabelledImagesToo) {
  RecognizerSnapshot snapshot = two_groups(12);
  snapshot.enrolled.unlabelled = array_of(at::tensor({1.0F, 0.1F, 0.0F, 0.0F, 1.0F, 0.0F}).view({2, 3}));
  const std::vector<MappedPhoto> map = map_photos(snapshot);
  ASSERT_EQ(map.size(), 26U);
  EXPECT_EQ(map[24].class_name, "");
  EXPECT_EQ(map[25].example, 1);
}

TEST(SimilarPhotos, AreThoseOfTheSmallestAngle) {
  RecognizerSnapshot snapshot = two_groups(4);
  snapshot.enrolled.unlabelled = array_of(at::tensor({0.0F, 0.0F, 0.0F, 5.0F, 5.0F, 0.0F}).view({2, 3}));
  const std::vector<SimilarPhoto> found = similar_photos(snapshot, array_of(at::tensor({2.0F, 2.0F, 0.0F})), 2);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].class_name, "");
  EXPECT_EQ(found[0].example, 1);
  EXPECT_NEAR(found[0].similarity, 1, 1e-6);
  EXPECT_EQ(found[1].example, 3) << "at 0.15, the end of the first group, is nearer to pi / 4 than 1.5";
  EXPECT_EQ(similar_photos(snapshot, array_of(at::tensor({1.0F, 0.0F, 0.0F})), 99).size(), 10U);
}

}  // namespace
}  // namespace protocom::testing
