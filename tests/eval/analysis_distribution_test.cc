#include "eval/analysis_distribution.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "support/matrices.h"
#include "support/real_data.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Returns two base classes and one novel class of two images each, in the plane.
FeatureSet small_set() {
  FeatureSet features;
  features.features = Array::of<float>({0, 1, 2, 1, 4, 3, 4, 7, 1, 0, 0, 1}, {6, 2});
  features.labels = {0, 0, 1, 1, 2, 2};
  features.class_names = {"a", "b", "c"};
  features.class_split = {Split::kBase, Split::kBase, Split::kNovel};
  features.image_ids = {"0", "1", "2", "3", "4", "5"};
  return features;
}

TEST(PrincipalComponents, RefusesMoreThanThereAre) {
  EXPECT_THROW(principal_components(DoubleMatrix::Ones(3, 2), 3), UsageError);
  EXPECT_THROW(principal_components(DoubleMatrix::Ones(3, 2), 0), UsageError);
}

// Class a: variances (2, 0), mean 1; class b: (0, 8), mean 4: sigma^2 = 2.5. Centres (1, 1) and (4, 5): variances
// (4.5, 8), mean 6.25. Class c: (0.5, 0.5) about (0.5, 0.5), and both images at 45 degrees to the centre.
TEST(SplitVariances, AreThoseWorkedOutByHand) {
  const auto variances = split_variances(small_set());
  ASSERT_EQ(variances.size(), 2U);  // without val classes there is no entry for them
  EXPECT_EQ(variances[0].split, "base");
  EXPECT_EQ(variances[0].classes, 2);
  EXPECT_EQ(variances[0].images, 4);
  EXPECT_NEAR(variances[0].within, 2.5, 1e-9);
  EXPECT_NEAR(variances[0].within_ci95, 1.96 * 1.5, 1e-9);  // 1 and 4: std 2.1213, over the root of 2
  EXPECT_NEAR(variances[0].between, 6.25, 1e-9);
  EXPECT_EQ(variances[1].split, "novel");
  EXPECT_NEAR(variances[1].within, 0.5, 1e-9);
  EXPECT_NEAR(variances[1].cosine, std::sqrt(0.5), 1e-6);
}

// (0, 0), (3, 4), (6, 8): distances 5 along the direction (0.6, 0.8), nothing across it.
TEST(PrincipalComponents, OfPointsOnALineAreTheirPlacesOnIt) {
  DoubleMatrix line(3, 2);
  line << 0, 0, 3, 4, 6, 8;
  const PrincipalComponents found = principal_components(line, 2);
  EXPECT_NEAR(found.share[0], 1.0, 1e-9);
  EXPECT_NEAR(found.share[1], 0.0, 1e-9);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.points(i, 0), 5.0 * static_cast<double>(i - 1), 1e-9);
    EXPECT_NEAR(found.points(i, 1), 0.0, 1e-6);
  }
}

TEST(PrincipalComponents, KeepDistancesWhenNoneIsLeftOut) {
  const at::Tensor rows = at::randn({12, 5}, at::detail::createCPUGenerator(3)).to(at::kDouble);
  const at::Tensor points = tensor_of(principal_components(matrix_of(rows), 5).points);
  EXPECT_TRUE(at::allclose(at::cdist(rows, rows), at::cdist(points, points), 1e-6, 1e-6));
}

/// Returns rows of two clusters of `each` points in 10 dimensions, `apart` from each other.
DoubleMatrix two_clusters(int64_t each, double apart) {
  const at::Tensor noise = at::randn({2 * each, 10}, at::detail::createCPUGenerator(5));
  const at::Tensor shift = at::cat({at::zeros({each, 10}), at::full({each, 10}, apart)});
  return matrix_of(noise + shift);
}

TEST(Tsne, KeepsTwoFarClustersApart) {
  constexpr int64_t kEach = 40;
  TsneOptions options;
  options.perplexity = 10.0;
  const at::Tensor map = tensor_of(tsne(two_clusters(kEach, 8.0), options));
  ASSERT_EQ(map.sizes(), (at::IntArrayRef{2 * kEach, 2}));
  const at::Tensor distance = at::cdist(map, map);
  const double widest = std::max(distance.narrow(0, 0, kEach).narrow(1, 0, kEach).max().item<double>(),
                                 distance.narrow(0, kEach, kEach).narrow(1, kEach, kEach).max().item<double>());
  const at::Tensor first = map.narrow(0, 0, kEach).mean(0);
  const at::Tensor second = map.narrow(0, kEach, kEach).mean(0);
  EXPECT_GT((first - second).norm().item<double>(), widest);
  // Every point's nearest neighbour is in its own cluster.
  const at::Tensor nearest = (distance + at::eye(2 * kEach, at::kDouble) * 1e9).argmin(1);
  EXPECT_TRUE(nearest.narrow(0, 0, kEach).lt(kEach).all().item<bool>());
  EXPECT_TRUE(nearest.narrow(0, kEach, kEach).ge(kEach).all().item<bool>());
}

TEST(Tsne, GivesTheSameMapForTheSameRowsAndCentresIt) {
  TsneOptions options;
  options.perplexity = 5.0;
  options.iterations = 60;
  const DoubleMatrix rows = two_clusters(15, 3.0);
  const DoubleMatrix map = tsne(rows, options);
  EXPECT_EQ(map, tsne(rows, options));
  EXPECT_LT(map.colwise().mean().cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Tsne, RefusesAPerplexityThatTheImagesCannotHave) {
  TsneOptions options;
  options.perplexity = 10.0;
  EXPECT_THROW(tsne(two_clusters(15, 3.0), options), UsageError);  // 30 images need one below 10
  options.perplexity = 1.0;
  EXPECT_THROW(tsne(two_clusters(15, 3.0), options), UsageError);
}

TEST(Distribution, MapsTheClassesAndImagesAskedFor) {
  const auto world = testing::toy_world();
  DistributionOptions options;
  options.classes = 4;
  options.images_per_class = 10;
  options.tsne.perplexity = 5.0;
  options.tsne.iterations = 20;
  const DistributionAnalysis analysis = analyse_distribution(world.features, options);
  EXPECT_EQ(analysis.points.size(), 2U * 4U * 10U);
  EXPECT_EQ(analysis.variances.size(), 3U);
  std::map<std::string, int> images;
  for (const MapPoint& point : analysis.points) ++images[point.split + "/" + point.class_name];
  EXPECT_EQ(images.size(), 8U);
  for (const auto& [name, count] : images) EXPECT_EQ(count, 10) << name;
}

// Computed with NumPy in float64: mean over classes of features[labels == k].var(0, ddof=1).mean().
TEST(DistributionRealData, HasTheVariancesThatNumPyFinds) {
  REQUIRE_REAL_DATA();
  const auto cub = split_variances(read_features(*testing::real_data() / "cub-100-resnet12.npz"));
  ASSERT_EQ(cub.size(), 3U);
  EXPECT_NEAR(cub[0].within, 0.07633043347439138, 1e-6);
  EXPECT_NEAR(cub[1].within, 0.08953487377671161, 1e-6);
  EXPECT_NEAR(cub[2].within, 0.08747052041612026, 1e-6);
  const auto tiny = split_variances(read_features(*testing::real_data() / "tiny-imagenet-100-resnet12.npz"));
  EXPECT_NEAR(tiny[0].within, 0.09750356939148713, 1e-6);
  EXPECT_NEAR(tiny[2].within, 0.09440419121135983, 1e-6);
}

}  // namespace
}  // namespace protocom
