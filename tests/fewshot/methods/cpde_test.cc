// CPDE's head against tests/golden/cpde.py, and the effect of its enhancing.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewshot/methods.h"
#include "heads/cosine_classifier.h"
#include "heads/primitive_enhancing.h"
#include "support/golden.h"
#include "support/scorer.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::golden;
using testing::tensor_of;

TEST(Cpde, EnhancesAsItsEquationDoes) {
  const auto data = golden("cpde", "cpde.json");
  const at::Tensor found = enhanced_primitives(tensor_of(data.at("features")), data.at("strength").get<double>());
  EXPECT_LT(error_of(found, tensor_of(data.at("enhanced"))), 1e-11);
}

TEST(Cpde, AnswersAsItsEquationDoes) {
  const auto data = golden("cpde", "cpde.json");
  EpisodeBatch batch;
  batch.support = tensor_of(data.at("support")).to(at::kFloat).unsqueeze(0);
  batch.query = tensor_of(data.at("query")).to(at::kFloat).unsqueeze(0);
  const auto method = make_method("cpde:strength=" + data.at("strength").dump());
  EXPECT_LT(error_of(testing::scores_of(*method, {}, batch).logits[0], tensor_of(data.at("answers"))), 1e-5);
}

TEST(Cpde, WithoutEnhancingIsTheNearestMeanByCosine) {
  at::manual_seed(1);
  EpisodeBatch batch;
  batch.support = at::randn({2, 3, 2, 8});
  batch.query = at::randn({2, 4, 8});
  const at::Tensor found = testing::scores_of(*make_method("cpde:strength=0"), {}, batch).logits;
  EXPECT_LT(error_of(found, 10 * protocom::cosine_similarity(batch.query, batch.support.mean(2)).to(at::kDouble)),
            1e-5);
}

TEST(Cpde, EnlargesStrongChannelsAndLessensTheOthers) {
  const at::Tensor feature = at::tensor({0.1, 0.2, 2.0, 0.0});
  const at::Tensor found = enhanced_primitives(feature, 1);
  EXPECT_GT(found[2].item<double>(), 2.0);
  EXPECT_LT(found[1].item<double>(), 0.2);
  EXPECT_LT(error_of(enhanced_primitives(3 * feature, 1), 3 * found.to(at::kDouble)), 1e-6) << "whatever its length";
}

TEST(Cpde, AFeatureOfZerosStaysOneAndHasASlope) {
  const at::Tensor zeros = at::zeros({1, 4}).requires_grad_();
  const at::Tensor found = enhanced_primitives(zeros, 0.5);
  found.sum().backward();
  EXPECT_TRUE(found.eq(0).all().item<bool>());
  EXPECT_TRUE(zeros.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace protocom
