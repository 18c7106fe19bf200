#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fewshot/methods.h"
#include "support/scorer.h"

namespace protocom {
namespace {

TEST(SimpleShot, IsTheNearestMeanOfCentredUnitVectorsWorkedOutByHand) {
  // Base mean (1, 0). Supports (2, 0) -> (1, 0) and (1, 3) -> (0, 1); the query (2, 1) -> (1, 1) / sqrt(2).
  const LabelledFeatures base{Array::of<float>({0, 0, 2, 0}, {2, 2}), {0, 1}};
  MethodContext context;
  context.base = &base;
  EpisodeBatch batch;
  batch.support = at::tensor({2.0F, 0.0F, 1.0F, 3.0F}).view({1, 2, 1, 2});
  batch.query = at::tensor({2.0F, 1.0F, 1.0F, 2.0F}).view({1, 2, 2});
  const at::Tensor found = testing::scores_of(*make_method("simple-shot"), context, batch).logits;
  const double tied = -(2 - std::sqrt(2.0));  // -|(1,1)/sqrt(2) - (1,0)|^2
  const at::Tensor expected = at::tensor({tied, tied, -2.0, 0.0}).to(at::kFloat).view({1, 2, 2});
  EXPECT_LT((found - expected).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace protocom
