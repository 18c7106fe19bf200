#include "fewshot/toolbox/neighbour_groups.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "support/matrices.h"

namespace protocom {
namespace {

constexpr int64_t kClasses = 12, kImages = 8, kDims = 16;

/// Returns classes that lie far apart, with the images of each in a row.
at::Tensor collection() {
  at::manual_seed(4);
  const at::Tensor means = 5 * at::randn({kClasses, kDims});
  return means.repeat_interleave(kImages, 0) + 0.3 * at::randn({kClasses * kImages, kDims});
}

std::vector<int64_t> groups_of(const at::Tensor& features) { return neighbour_groups(float_matrix_of(features)); }

std::map<int64_t, std::vector<int64_t>> images_by_group(const std::vector<int64_t>& groups) {
  std::map<int64_t, std::vector<int64_t>> images;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] >= 0) images[groups[i]].push_back(static_cast<int64_t>(i));
  }
  return images;
}

TEST(NeighbourGroups, AreOfOneClassAndOfFourOrFiveImages) {
  const auto groups = images_by_group(groups_of(collection()));
  EXPECT_GE(static_cast<int64_t>(groups.size()), kClasses) << "at least one of most classes";
  int64_t next = 0;
  for (const auto& [group, images] : groups) {
    EXPECT_EQ(group, next++) << "numbered without a gap";
    EXPECT_GE(images.size(), 4U);
    EXPECT_LE(images.size(), 5U);
    for (const int64_t image : images) EXPECT_EQ(image / kImages, images.front() / kImages);
  }
}

TEST(NeighbourGroups, DoNotDependOnRotationScaleAndOrder) {
  const at::Tensor x = collection();
  const auto turn = std::get<0>(at::linalg_qr(at::randn({kDims, kDims})));
  const std::vector<int64_t> groups = groups_of(x);
  EXPECT_EQ(groups_of(at::mm(x, turn) * 3), groups);
  const at::Tensor order = at::randperm(x.size(0));
  const std::vector<int64_t> found = groups_of(x.index_select(0, order));
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], groups[static_cast<size_t>(order[static_cast<int64_t>(i)].item<int64_t>())]);
}

TEST(NeighbourGroups, LeaveOutWhatLooksLikeNothingElse) {
  const at::Tensor alone = at::zeros({1, kDims}).fill_(-40);
  EXPECT_EQ(groups_of(at::cat({collection(), alone})).back(), -1);
  EXPECT_EQ(groups_of(at::rand({4, 3})), std::vector<int64_t>(4, -1)) << "too few for a group";
  EXPECT_TRUE(groups_of(at::rand({0, 3})).empty());
}

}  // namespace
}  // namespace protocom
