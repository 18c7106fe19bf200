#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fewshot/methods.h"
#include "support/labelled.h"
#include "support/scorer.h"

namespace protocom {
namespace {

constexpr int64_t kDim = 64;
constexpr int64_t kBase = 8;
constexpr int64_t kImages = 25;

LabelledFeatures clusters() {
  at::manual_seed(7);
  const at::Tensor centres = at::rand({kBase, kDim});
  return testing::labelled(centres.repeat_interleave(kImages, 0) + 0.2 * at::rand({kBase * kImages, kDim}),
                           at::arange(kBase, at::kLong).repeat_interleave(kImages));
}

TEST(RestoreNet, MovesImagesTowardsTheirClassCentre) {
  const auto method = make_method("restore-net:share=1");
  const LabelledFeatures base = clusters();
  method->fit({base});
  const testing::Scorer scorer(*method, {});
  EpisodeBatch batch;
  const at::Tensor all = tensor_of(base.features);
  batch.support = all.view({kBase * kImages, 1, 1, kDim});
  batch.query = at::empty({kBase * kImages, 0, kDim});
  const at::Tensor moved = scorer.score(batch).prototypes.view({kBase, kImages, kDim});
  const at::Tensor images = all.view({kBase, kImages, kDim});
  const at::Tensor centres = images.mean(1, true);
  EXPECT_LT((moved - centres).norm().item<double>(), 0.8 * (images - centres).norm().item<double>());
}

TEST(RestoreNet, DoesNotDependOnTheScaleOfTheFeatures) {
  LabelledFeatures base = clusters();
  const at::Tensor all = tensor_of(base.features);
  EpisodeBatch batch;
  batch.support = all.slice(0, 0, 2).view({1, 2, 1, kDim});
  batch.query = all.slice(0, 2, 5).view({1, 3, kDim});
  const auto restored = [&](double scale) {
    const auto method = make_method("restore-net:steps=50");
    method->fit({{array_of(all * scale), base.labels}});
    EpisodeBatch scaled = batch;
    scaled.support = batch.support * scale;
    scaled.query = batch.query * scale;
    return at::Tensor(testing::scores_of(*method, {}, scaled).prototypes / scale);
  };
  EXPECT_TRUE(at::allclose(restored(1), restored(32), 1e-4, 1e-5));
}

TEST(RestoreNet, RefusesFeaturesOfAnotherDimensionAndDamagedTensors) {
  const auto method = make_method("restore-net:steps=1");
  method->fit({clusters()});
  EpisodeBatch batch;
  batch.support = at::zeros({1, 2, 1, 3});
  batch.query = at::zeros({1, 1, 3});
  EXPECT_THROW(static_cast<void>(testing::scores_of(*method, {}, batch)), Error);
  MethodState state = method->state();
  state.tensors[2].second = Array::zeros({3, 3});
  EXPECT_THROW(make_method("restore-net")->load(state), Error);
}

}  // namespace
}  // namespace protocom
