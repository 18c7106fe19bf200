#include <ATen/ATen.h>

#include "support/golden.h"
#include "support/plda_reference.h"
#include "support/plda_task.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::golden;
using testing::log_predictive;
using testing::log_predictive_of_unseen;
using testing::nothing_known;
using testing::PldaTask;
using testing::posterior_of;
using testing::PosteriorOfMeans;
using testing::PriorOfMeans;
using testing::task_of;
using testing::tensor_of;

TEST(ClassMeanPosterior, AgreesWithTheFormulasForRaggedShotsAndNone) {
  const auto data = golden("inductive", "plda.json");
  const PldaTask task = task_of(data);
  const PosteriorOfMeans posterior = posterior_of(task.prior, task.count, task.sum);
  EXPECT_LT(error_of(posterior.mean, tensor_of(data.at("mean"))), testing::kDoubleBound);
  EXPECT_LT(error_of(posterior.variance, tensor_of(data.at("variance"))), testing::kDoubleBound);
  EXPECT_LT(error_of(log_predictive(posterior, task.queries), tensor_of(data.at("log_predictive"))),
            testing::kDoubleBound);
  EXPECT_LT(
      error_of(log_predictive_of_unseen(tensor_of(data.at("between")), task.queries), tensor_of(data.at("log_unseen"))),
      testing::kDoubleBound);
}

TEST(ClassMeanPosterior, AgreesInFloat32InABatchOfEpisodes) {
  const auto data = golden("inductive", "plda.json");
  const PldaTask task = task_of(data);
  const auto twice = [](const at::Tensor& x) { return at::stack({x, x}).to(at::kFloat); };
  const PosteriorOfMeans posterior =
      posterior_of({twice(task.prior.mean), task.prior.variance.to(at::kFloat)}, twice(task.count), twice(task.sum));
  const at::Tensor scores = log_predictive(posterior, twice(task.queries));
  EXPECT_LT(error_of(scores[0], tensor_of(data.at("log_predictive"))), 1e-6);
  EXPECT_TRUE(scores[0].equal(scores[1]));
}

TEST(ClassMeanPosterior, BecomesTheMeanOfManyImagesWhateverThePriorSays) {
  const PriorOfMeans prior{at::full({1, 3}, 7.0, at::kDouble), at::full({3}, 0.01, at::kDouble)};
  const at::Tensor mean = testing::matrix({{1.0, -2.0, 0.5}});
  const PosteriorOfMeans posterior = posterior_of(prior, at::full({1}, 1e9, at::kDouble), 1e9 * mean);
  EXPECT_LT(error_of(posterior.mean, mean), 1e-6);
  EXPECT_LT(posterior.variance.max().item<double>(), 1e-8);
}

TEST(ClassMeanPosterior, IsThePriorWithoutImagesAndStaysThereWhenItIsSure) {
  const PriorOfMeans prior{at::randn({2, 3}, at::kDouble), at::tensor({0.0, 1.0, 2.0}, at::kDouble)};
  const at::Tensor nothing = at::zeros({2, 3}, at::kDouble);
  EXPECT_TRUE(posterior_of(prior, at::zeros({2}, at::kDouble), nothing).mean.equal(prior.mean));
  const PosteriorOfMeans later = posterior_of(prior, at::ones({2}, at::kDouble), nothing + 5);
  EXPECT_TRUE(later.mean.select(1, 0).equal(prior.mean.select(1, 0)));
}

TEST(ClassMeanPosterior, WithoutKnowledgeGivesTheLikelihoodRatioOfPlda) {
  // Two images x and q of one class are jointly Gaussian with covariance [[1 + b, b], [b, 1 + b]], of two classes with
  // 0 off the diagonal; the ratio of the densities is PLDA's score of a pair (Ioffe 2006).
  const double b = 0.8;
  const double x = 0.7;
  const double q = -0.4;
  const PriorOfMeans prior = nothing_known(at::full({1}, b, at::kDouble), 1);
  const PosteriorOfMeans posterior = posterior_of(prior, at::ones({1}, at::kDouble), at::full({1, 1}, x, at::kDouble));
  const at::Tensor query = at::full({1, 1}, q, at::kDouble);
  const double found =
      (log_predictive(posterior, query) - log_predictive_of_unseen(prior.variance, query)).item<double>();
  const double total = 1 + b;
  const double determinant = total * total - b * b;
  const double joint = -0.5 * std::log(determinant) - (total * (x * x + q * q) - 2 * b * x * q) / (2 * determinant);
  const double apart = -std::log(total) - (x * x + q * q) / (2 * total);
  EXPECT_NEAR(found, joint - apart, 1e-12);
}

}  // namespace
}  // namespace protocom
