#include "fewshot/toolbox/neighbour_groups.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

namespace protocom {
namespace {

constexpr int64_t kClasses = 12, kImages = 8, kDims = 16;

/// Classes that lie far apart, their images in a row.
at::Tensor collection() {
  at::manual_seed(4);
  const at::Tensor means = 5 * at::randn({kClasses, kDims});
  return means.repeat_interleave(kImages, 0) + 0.3 * at::randn({kClasses * kImages, kDims});
}

std::map<int64_t, std::vector<int64_t>> images_by_group(const at::Tensor& groups) {
  std::map<int64_t, std::vector<int64_t>> images;
  for (int64_t i = 0; i < groups.size(0); ++i) {
    if (const auto group = groups[i].item<int64_t>(); group >= 0) images[group].push_back(i);
  }
  return images;
}

TEST(NeighbourGroups, AreOfOneClassAndOfFourOrFiveImages) {
  const auto groups = images_by_group(neighbour_groups(collection()));
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
  const at::Tensor groups = neighbour_groups(x);
  EXPECT_TRUE(at::equal(neighbour_groups(at::mm(x, turn) * 3), groups));
  const at::Tensor order = at::randperm(x.size(0));
  EXPECT_TRUE(at::equal(neighbour_groups(x.index_select(0, order)), groups.index_select(0, order)));
}

TEST(NeighbourGroups, LeaveOutWhatLooksLikeNothingElse) {
  const at::Tensor alone = at::zeros({1, kDims}).fill_(-40);
  const at::Tensor groups = neighbour_groups(at::cat({collection(), alone}));
  EXPECT_EQ(groups[kClasses * kImages].item<int64_t>(), -1);
  EXPECT_TRUE(neighbour_groups(at::rand({4, 3})).lt(0).all().item<bool>()) << "too few for a group";
  EXPECT_EQ(neighbour_groups(at::rand({0, 3})).size(0), 0);
}

}  // namespace
}  // namespace protocom
