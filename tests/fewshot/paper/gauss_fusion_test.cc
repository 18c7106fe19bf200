#include "heads/gauss_fusion.h"

#include <ATen/ATen.h>

#include "heads/cosine_classifier.h"
#include "support/golden.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::matrix;
using protocom::testing::tensor_of;

/// Returns statistics of classes with different numbers of shots.
SupportStatistics ragged_support(const nlohmann::json& supports) {
  std::vector<at::Tensor> count;
  std::vector<at::Tensor> sum;
  std::vector<at::Tensor> squares;
  for (const auto& rows : supports) {
    const at::Tensor support = tensor_of(rows);
    count.push_back(at::full({}, static_cast<double>(support.size(0)), at::kDouble));
    sum.push_back(support.sum(0));
    squares.push_back((support * support).sum(0));
  }
  return {at::stack(count), at::stack(sum), at::stack(squares)};
}

TEST(GaussFusion, AgreesWithTheEquationsStepByStep) {
  const auto data = golden("fusion");
  const SupportStatistics support = ragged_support(data.at("supports"));
  const at::Tensor queries = tensor_of(data.at("queries"));
  EXPECT_LT(error_of(mean_prototypes(support), tensor_of(data.at("mean"))), testing::kDoubleBound);
  const at::Tensor probability = cosine_probabilities(queries, mean_prototypes(support), 10.0);
  EXPECT_LT(error_of(probability, tensor_of(data.at("probability"))), testing::kDoubleBound);
  const ClassGaussians gaussians = weighted_gaussians(support, queries, probability);
  EXPECT_LT(error_of(gaussians.mean, tensor_of(data.at("mu"))), testing::kDoubleBound);
  EXPECT_LT(error_of(gaussians.variance, tensor_of(data.at("variance"))), testing::kDoubleBound);
  GaussFusionOptions options;
  options.epsilon = 0;
  const at::Tensor fused = gauss_fusion(support, tensor_of(data.at("completed")), queries, options);
  EXPECT_LT(error_of(fused, tensor_of(data.at("fused"))), testing::kDoubleBound);
  options.steps = 3;
  const at::Tensor later = gauss_fusion(support, tensor_of(data.at("completed")), queries, options);
  EXPECT_LT(error_of(later, tensor_of(data.at("fused_after_3_steps"))), testing::kDoubleBound);
}

TEST(GaussFusion, AgreesInFloat32Too) {
  const auto data = golden("fusion");
  const SupportStatistics wide = ragged_support(data.at("supports"));
  const SupportStatistics support{wide.count.to(at::kFloat), wide.sum.to(at::kFloat), wide.sum_squares.to(at::kFloat)};
  const at::Tensor fused = gauss_fusion(support, tensor_of(data.at("completed")).to(at::kFloat),
                                        tensor_of(data.at("queries")).to(at::kFloat));
  EXPECT_LT(error_of(fused, tensor_of(data.at("fused"))), 2e-5);  // with the default epsilon
}

TEST(GaussFusion, WeighsTwoMeansByEachOthersVariance) {
  const ClassGaussians a{matrix({{0.0, 2.0}}), matrix({{1.0, 3.0}})};
  const ClassGaussians b{matrix({{4.0, 6.0}}), matrix({{3.0, 1.0}})};
  // (1 * 4 + 3 * 0) / 4 = 1 and (3 * 6 + 1 * 2) / 4 = 5
  EXPECT_TRUE(posterior_mean(a, b, 0).equal(matrix({{1.0, 5.0}})));
}

TEST(GaussFusion, TakesTheMeanOfTheTwoWhereBothVariancesVanish) {
  const ClassGaussians a{matrix({{2.0}}), at::zeros({1, 1}, at::kDouble)};
  const ClassGaussians b{matrix({{6.0}}), at::zeros({1, 1}, at::kDouble)};
  EXPECT_DOUBLE_EQ(posterior_mean(a, b, 1e-6).item<double>(), 4.0);
}

TEST(GaussFusion, WithoutQueriesIsHalfMeanAndHalfCompleted) {
  const at::Tensor support = at::tensor({1.0F, 3.0F, 5.0F, 7.0F}).view({2, 1, 2});  // one image per class
  const at::Tensor completed = at::tensor({3.0F, 3.0F, 9.0F, 9.0F}).view({2, 2});
  const at::Tensor fused = gauss_fusion(support_statistics(support), completed, at::empty({0, 2}));
  EXPECT_TRUE(fused.equal(at::tensor({2.0F, 3.0F, 7.0F, 8.0F}).view({2, 2})));
}

TEST(GaussFusion, DoesNotDependOnTheOrderOfTheQueries) {
  const at::Tensor support = at::randn({3, 2, 8}, at::kDouble);
  const at::Tensor completed = at::randn({3, 8}, at::kDouble);
  const at::Tensor queries = at::randn({20, 8}, at::kDouble);
  const SupportStatistics statistics = support_statistics(support);
  const at::Tensor fused = gauss_fusion(statistics, completed, queries);
  EXPECT_LT(error_of(gauss_fusion(statistics, completed, queries.index_select(0, at::randperm(20))), fused), 1e-12);
}

TEST(GaussFusion, HasTheGradientOfFiniteDifferences) {
  at::manual_seed(3);
  const at::Tensor support = at::randn({1, 3, 2, 4}, at::kDouble);
  const at::Tensor queries = at::randn({1, 7, 4}, at::kDouble);
  at::Tensor completed = at::randn({1, 3, 4}, at::kDouble);
  const at::Tensor direction = at::randn({1, 3, 4}, at::kDouble);
  const auto value = [&](const at::Tensor& at_support, const at::Tensor& at_completed, const at::Tensor& at_queries) {
    return (gauss_fusion(support_statistics(at_support), at_completed, at_queries) * direction).sum();
  };
  std::vector<at::Tensor> inputs = {support.clone(), completed.clone(), queries.clone()};
  for (auto& input : inputs) input.set_requires_grad(true);
  value(inputs[0], inputs[1], inputs[2]).backward();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor step = at::randn_like(inputs[i]);
    constexpr double kStep = 1e-6;
    const auto moved = [&](double sign) {
      std::vector<at::Tensor> at_point = {support, completed, queries};
      at_point[i] = at_point[i] + sign * kStep * step;
      return value(at_point[0], at_point[1], at_point[2]).item<double>();
    };
    const double expected = (moved(1) - moved(-1)) / (2 * kStep);
    EXPECT_NEAR((inputs[i].grad() * step).sum().item<double>(), expected, 1e-6 * std::max(1.0, std::abs(expected)))
        << "input " << i;
  }
}

TEST(CosineClassifier, GivesProbabilitiesThatSumToOneAndFollowTheScale) {
  const at::Tensor queries = matrix({{3.0, 4.0}});
  const at::Tensor prototypes = matrix({{1.0, 0.0}, {0.0, 2.0}});
  EXPECT_LT(error_of(protocom::cosine_similarity(queries, prototypes), matrix({{0.6, 0.8}})), 1e-15);
  const double odds = std::exp(10 * 0.2);
  const at::Tensor expected = matrix({{1 / (1 + odds), odds / (1 + odds)}});
  EXPECT_LT(error_of(cosine_probabilities(queries, prototypes, 10.0), expected), 1e-14);
}

TEST(CosineClassifier, FindsAZeroVectorSimilarToNothing) {
  const at::Tensor similarity = protocom::cosine_similarity(at::zeros({1, 2}), at::eye(2));
  EXPECT_TRUE(similarity.equal(at::zeros({1, 2})));
}

}  // namespace
}  // namespace protocom
