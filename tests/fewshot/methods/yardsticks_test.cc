// The yardstick methods against tests/golden/yardsticks.py, and further properties of each.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "fewshot/row_length.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/linear_fit.h"
#include "heads/distances.h"
#include "support/labelled.h"
#include "support/message_of.h"
#include "support/parameter_name.h"
#include "support/scorer.h"
#include "support/yardstick.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::tensor_of;
using protocom::testing::YardstickEpisode;

const YardstickEpisode& world() {
  static const YardstickEpisode kWorld;
  return kWorld;
}

class Yardstick : public ::testing::TestWithParam<std::string> {};

TEST_P(Yardstick, AnswersAsItsEquationsDo) {
  const at::Tensor expected = tensor_of(golden("answers", "yardsticks.json").at(GetParam()));
  EXPECT_LT(error_of(world().answer(GetParam()), expected), 2e-4) << world().answer(GetParam()) << expected;
}

class PooledYardstick : public ::testing::TestWithParam<std::string> {};

TEST_P(PooledYardstick, AnswersQueriesBesideAPoolOfTheSameImagesAsWithout) {
  EpisodeBatch pooled = world().batch;
  pooled.unlabelled = pooled.query;
  EXPECT_LT(error_of(world().answer(GetParam(), pooled), world().answer(GetParam())), 1e-5);
}

std::vector<std::string> typed() {
  std::vector<std::string> names;
  const nlohmann::json answers = golden("answers", "yardsticks.json");
  for (const auto& [name, answer] : answers.items()) names.push_back(name);
  return names;
}

/// Returns all but those that reach a query through its neighbours: an image of the pool is no neighbour of itself, but
/// it is one of a query that shows the same.
std::vector<std::string> without_graph() {
  std::vector<std::string> names = typed();
  const auto has_graph = [](const std::string& name) {
    const std::string method = name.substr(0, name.find(':'));
    return method == "laplacian-shot" || method == "label-propagation" || method == "ilpc" || method == "trans-clip";
  };
  names.erase(std::remove_if(names.begin(), names.end(), has_graph), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Golden, Yardstick, ::testing::ValuesIn(typed()), ::protocom::testing::parameter_name);
INSTANTIATE_TEST_SUITE_P(Golden, PooledYardstick, ::testing::ValuesIn(without_graph()),
                         ::protocom::testing::parameter_name);

// ------------------------------------------------------------------------------------------------------ shared
// formulas

/// Returns e^logits of a plan, [u, n]; logits have standard deviation `spread`.
FloatMatrix some_kernel(unsigned seed, int64_t u, int64_t n, float spread) {
  std::mt19937 draw(seed);
  std::normal_distribution<float> number(0, spread);
  return FloatMatrix::NullaryExpr(u, n, [&] { return std::exp(number(draw)); });
}

Floats scales_of(const FloatMatrix& kernel, const Floats& columns) {
  const int64_t stride = padded_length(kernel.rows());
  Floats values(columns.size() * static_cast<size_t>(stride));
  Eigen::Map<FloatMatrix>(values.data(), kernel.cols(), stride).leftCols(kernel.rows()) = kernel.transpose();
  return sinkhorn_scales(values, stride, columns);
}

TEST(Sinkhorn, GivesAPlanWhoseRowsAndColumnsSumToWhatWasAsked) {
  for (const unsigned seed : {5U, 6U, 7U}) {
    const FloatMatrix kernel = some_kernel(seed, 20, 4, 4);
    const Floats columns = {2.0F, 11.0F, 7.0F, 0.0F};
    FloatMatrix plan = kernel * Eigen::Map<const Eigen::VectorXf>(scales_of(kernel, columns).data(), 4).asDiagonal();
    plan = plan.rowwise().sum().cwiseInverse().asDiagonal() * plan;
    EXPECT_LT((plan.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-5);
    const Eigen::RowVectorXf found = plan.colwise().sum();
    for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(found[k], columns[static_cast<size_t>(k)], 1e-3);
  }
}

TEST(Sinkhorn, LeavesOutRowsThatTakeNoPart) {
  FloatMatrix kernel = some_kernel(6, 9, 3, 1);
  const Floats columns = {2.0F, 2.0F, 2.0F};
  const Floats expected = scales_of(kernel.topRows(6), columns);
  kernel.bottomRows(3).setZero();
  const Floats found = scales_of(kernel, columns);
  for (size_t k = 0; k < columns.size(); ++k) EXPECT_NEAR(std::log(found[k]), std::log(expected[k]), 1e-5);
}

TEST(LinearFit, ReachesAPointWhereTheGradientVanishes) {
  // Ridge regression of labels: the gradient of |w|^2/2 + c |scores - y|^2/2 in the coefficients is a + c (scores - y).
  std::mt19937 draw(9);
  std::normal_distribution<float> number;
  LinearProblem problem;
  problem.points = FloatMatrix::NullaryExpr(6, 5, [&] { return number(draw); });
  problem.points.rowwise().normalize();
  problem.labels = FloatMatrix::Zero(6, 3);
  for (int64_t i = 0; i < 6; ++i) problem.labels(i, i / 2) = 1;
  constexpr float kWeight = 10;
  problem.pull = [&](FloatMatrix& scores) { scores = kWeight * (scores - problem.labels); };
  problem.curvature = kWeight;
  const LinearFit fit = fit_linear(problem);
  FloatMatrix pull = problem.points * problem.points.transpose() * fit.coefficients;
  pull.rowwise() += fit.bias;
  problem.pull(pull);
  EXPECT_LT((fit.coefficients + pull).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT(pull.colwise().sum().cwiseAbs().maxCoeff(), 1e-3) << "the bias is not penalised";
}

// -------------------------------------------------------------------------------------------------- what they promise

/// Two distant classes, one support each; 8 queries of the first and 2 of the second, near their class.
struct Unbalanced {
  Unbalanced() {
    at::manual_seed(10);
    const at::Tensor centres = at::stack({at::ones({12}), at::cat({at::ones({6}), -at::ones({6})})});
    batch.support = (centres + 0.05 * at::randn({2, 12})).view({1, 2, 1, 12});
    const at::Tensor labels = at::tensor({0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, at::kLong);
    batch.query = (centres.index_select(0, labels) + 0.3 * at::randn({10, 12})).unsqueeze(0);
  }
  [[nodiscard]] at::Tensor probabilities(const std::string& method) const {
    const LabelledFeatures base =
        testing::labelled(at::randn({20, 12}), at::arange(2, at::kLong).repeat_interleave(10));
    MethodContext context;
    context.base = &base;
    return testing::scores_of(*make_method(method), context, batch).logits.softmax(-1);
  }
  EpisodeBatch batch;
};

TEST(UnbalancedQueries, CountTheSameForEachClassInMethodsOfBalancedTransport) {
  const Unbalanced world;
  for (const char* method : {"pt-map:transform=l2n:lambda=1", "protolp:transform=l2n:lambda=1"})
    EXPECT_NEAR(world.probabilities(method).select(2, 1).sum().item<double>(), 5, 0.01) << method;
}

TEST(UnbalancedQueries, StayWithTheirClassInMethodsThatAssumeNothing) {
  const Unbalanced world;
  for (const char* method :
       {"proto-net", "logistic-regression", "linear-svm", "knn:transform=l2n", "baseline-pp", "bd-cspn:transform=l2n",
        "soft-k-means:transform=l2n", "label-propagation:transform=l2n:neighbours=3", "alpha-tim"})
    EXPECT_EQ(world.probabilities(method).argmax(-1).sum().item<int64_t>(), 2) << method;
}

TEST(Bavardage, HasADefaultPrecisionThatDoesNotDependOnHowManyBaseImagesThereAre) {
  YardstickEpisode twice;  // whitening divides by the scatter, a sum over images
  const std::vector<int64_t> labels = twice.base.labels;
  twice.base.features = Array::joined({twice.base.features, twice.base.features});
  twice.base.labels.insert(twice.base.labels.end(), labels.begin(), labels.end());
  EXPECT_LT(error_of(twice.answer("bavardage"), world().answer("bavardage")), 1e-3);
  EXPECT_GT(error_of(twice.answer("bavardage:precision=4"), world().answer("bavardage:precision=4")), 1e-2);
}

TEST(Residuals, KeepTheirDigitsWhereProbabilitiesAreNearlyTheLabels) {
  const FloatMatrix p = Eigen::Vector3f(1.0F, 3e-12F, 1e-12F);  // 1 - p would be 0
  const FloatMatrix found = residuals(Eigen::Vector3f(1.0F, 0.0F, 0.0F), p);
  const float expected[] = {-4e-12F, 3e-12F, 1e-12F};
  for (int64_t k = 0; k < 3; ++k) EXPECT_NEAR(found(k, 0), expected[k], 1e-5F * std::abs(expected[k]));
  EXPECT_EQ(residuals(Eigen::Vector3f::Zero(), p), FloatMatrix::Zero(3, 1)) << "no label";
}

/// Returns the episode without its labelled images.
EpisodeBatch without_photos() {
  EpisodeBatch batch = world().batch;
  batch.support = batch.support.slice(2, 0, 0);
  return batch;
}

TEST(MatchedText, AnswersWithoutAnyPhotoAsItsEquationsDo) {
  const at::Tensor text = world().answer("zero-shot");
  EXPECT_LT(error_of(world().answer("zero-shot", without_photos()), text), 1e-6);
  EXPECT_LT(error_of(world().answer("tip-adapter", without_photos()), text), 1e-6);
  const at::Tensor expected = tensor_of(golden("without_photos", "yardsticks.json").at("trans-clip:scale=10"));
  EXPECT_LT(error_of(world().answer("trans-clip:scale=10", without_photos()), expected), 2e-4);
  const at::Tensor clusters = tensor_of(golden("without_photos", "yardsticks.json").at("em-dirichlet:temperature=2"));
  EXPECT_LT(error_of(world().answer("em-dirichlet:temperature=2", without_photos()), clusters), 2e-4);
  EXPECT_THROW(static_cast<void>(world().answer("gda-text", without_photos())), Error) << "it needs labelled images";
}

TEST(MatchedText, OfAClassThatIsMissingIsTheMeanOfTheOthers) {
  YardstickEpisode some;
  tensor_of(some.knowledge.class_embedding)[1].zero_();
  const at::Tensor cosines = testing::scores_of(*make_method("zero-shot:scale=1"), some.context, some.batch).logits[0];
  EXPECT_LT(error_of(cosines.select(1, 1), (cosines.select(1, 0) + cosines.select(1, 2)) / 2), 1e-6);
  tensor_of(some.knowledge.class_embedding).zero_();
  EXPECT_EQ(testing::scores_of(*make_method("zero-shot"), some.context, some.batch).logits.abs().max().item<float>(),
            0);
}

TEST(MatchedText, OfAnotherEncoderIsRefusedWithBothLengths) {
  YardstickEpisode other;
  other.knowledge.class_embedding = array_of(at::ones({3, 9}));
  for (const char* method : {"zero-shot", "tip-adapter", "gda-text", "trans-clip", "em-dirichlet"})
    EXPECT_THAT(testing::message_of([&] { static_cast<void>(other.answer(method)); }),
                ::testing::HasSubstr("vectors of 9 dimensions, the images features of 6"))
        << method;
}

}  // namespace
}  // namespace protocom
