#include "fewshot/plda/vb.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "support/golden.h"
#include "support/plda_reference.h"
#include "support/plda_task.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::golden;
using testing::plda_vb;
using testing::plda_vb_scores;
using testing::PldaTask;
using testing::PldaVbResult;
using testing::posterior_of;
using testing::task_of;
using testing::tensor_of;

/// Returns episodes of n classes around means of their own, one support each.
PldaTask random_task(at::IntArrayRef episodes, int64_t n, int64_t q, int64_t d) {
  at::manual_seed(11);
  const auto sized = [&](std::vector<int64_t> more) {
    std::vector<int64_t> sizes = episodes.vec();
    sizes.insert(sizes.end(), more.begin(), more.end());
    return sizes;
  };
  const at::Tensor means = 1.5 * at::randn(sized({n, d}), at::kDouble);
  const at::Tensor labels = at::arange(q, at::kLong).remainder(n);
  return {{0.5 * means, at::full({d}, 0.8, at::kDouble)},
          at::ones(sized({n}), at::kDouble),
          means + at::randn(sized({n, d}), at::kDouble),
          means.index_select(-2, labels) + at::randn(sized({q, d}), at::kDouble)};
}

PldaVbResult solve(const PldaTask& task, const PldaVbOptions& options = {}) {
  return plda_vb(task.prior, task.count, task.sum, task.queries, options);
}

void expect_golden(const std::string& part) {
  const auto data = golden(part, "plda.json");
  PldaVbOptions options;
  options.steps = data.at("steps");
  options.trust = data.at("trust");
  options.spread = data.at("spread");
  options.concentration = data.at("concentration");
  options.uncertain = data.at("uncertain");
  const PldaVbResult found = solve(task_of(data), options);
  EXPECT_LT(error_of(found.means.mean, tensor_of(data.at("mean"))), 1e-12);
  EXPECT_LT(error_of(found.means.variance, tensor_of(data.at("variance"))), 1e-12);
  EXPECT_LT(error_of(found.responsibilities, tensor_of(data.at("responsibilities"))), 1e-12);
}

TEST(PldaVb, AgreesWithTheFormulasAfterOneStep) { expect_golden("one_step"); }

TEST(PldaVb, AgreesWithTheFormulasAfterFiveSteps) { expect_golden("five_steps"); }

TEST(PldaVb, AgreesWithTheFormulasWhereTheConcentrationIsUnknown) { expect_golden("unknown_concentration"); }

TEST(PldaVb, AgreesWithTheFormulasWhereFewDimensionsHaveAnUncertainty) { expect_golden("known_dimensions"); }

TEST(PldaVb, LosesNothingOnABatchOfOneClassUnlessItIsTakenForBalanced) {
  constexpr int64_t kTasks = 64, kClasses = 4, kQueries = 20, kDim = 16;
  at::manual_seed(5);
  const at::Tensor means = at::randn({kTasks, kClasses, kDim}, at::kDouble);
  const auto noise = [](at::IntArrayRef sizes) { return 1.5 * at::randn(sizes, at::kDouble); };
  PldaTask together{{at::zeros({kTasks, kClasses, kDim}, at::kDouble), at::full({kDim}, 0.5, at::kDouble)},
                    at::ones({kTasks, kClasses}, at::kDouble),
                    means + noise({kTasks, kClasses, kDim}),
                    means.narrow(1, 0, 1) + noise({kTasks, kQueries, kDim})};
  const auto each = [](const at::Tensor& of_tasks) { return of_tasks.repeat_interleave(kQueries, 0); };
  const PldaTask alone{{each(together.prior.mean), together.prior.variance},
                       each(together.count),
                       each(together.sum),
                       together.queries.reshape({kTasks * kQueries, 1, kDim})};
  const auto right = [](const PldaTask& task, Proportions proportions) {
    PldaVbOptions options;
    options.proportions = proportions;
    return solve(task, options).responsibilities.argmax(-1).eq(0).to(at::kDouble).mean().item<double>();
  };
  const double one_by_one = right(alone, Proportions::kEstimate);
  EXPECT_GT(right(together, Proportions::kEstimate), one_by_one);
  EXPECT_LT(right(together, Proportions::kBalanced), one_by_one);
}

TEST(PldaVb, ClassesKeepTheirImagesWhereTheVarianceOfManyDimensionsIsMuchTooLarge) {
  // In the other dimensions, which base classes never showed, images of new classes and their means hardly differ.
  const at::Tensor informed = at::arange(600, at::kLong).lt(8);
  const auto noise = [&](at::IntArrayRef sizes) {
    return at::randn(sizes, at::kDouble) * at::where(informed, 1.0, 0.2);
  };
  const at::Tensor labels = at::arange(40, at::kLong).remainder(4);
  PldaTask task = random_task({8}, 4, 40, 600);
  const at::Tensor means = 2 * at::randn({8, 4, 600}, at::kDouble) * informed;
  task.prior = {at::zeros({8, 4, 600}, at::kDouble), at::full({600}, 0.15, at::kDouble)};
  task.sum = means + noise({8, 4, 600});
  task.queries = means.index_select(1, labels) + noise({8, 40, 600});
  const auto fewest = [&](int64_t uncertain) {
    PldaVbOptions options;
    options.uncertain = uncertain;
    return solve(task, options).responsibilities.sum(1).amin(1).mean().item<double>();  // 10 are true
  };
  EXPECT_LT(fewest(-1), 3.5);
  EXPECT_GT(fewest(8), 5.5);
}

TEST(PldaVb, BelievesInEqualSharesAsFarAsTheImagesDo) {
  const PldaTask task = random_task({20}, 5, 60, 4);  // about equally many of each
  const auto unevenness = [&](double concentration) {
    PldaVbOptions options;
    options.concentration = concentration;
    return solve(task, options).responsibilities.sum(1).var(1).mean().item<double>();
  };
  EXPECT_LT(unevenness(0), 0.8 * unevenness(kConcentrations.front()));
  EXPECT_GT(unevenness(0), unevenness(kConcentrations.back()));
}

TEST(PldaVb, ScoresThePoolAsItsOwnQueries) {
  const PldaTask task = random_task({3}, 4, 20, 8);
  for (const auto proportions : {Proportions::kEstimate, Proportions::kBalanced}) {
    PldaVbOptions options;
    options.proportions = proportions;
    const PldaVbResult result = solve(task, options);
    const at::Tensor scores = plda_vb_scores(result, task.queries, options);
    EXPECT_LT(error_of(scores.softmax(-1), result.responsibilities), 1e-12);
  }
}

TEST(PldaVb, GivesEveryClassItsShareWhenToldThatQueriesAreBalanced) {
  const PldaTask task = random_task({2}, 5, 23, 8);
  PldaVbOptions options;
  options.proportions = Proportions::kBalanced;
  const at::Tensor filled = solve(task, options).responsibilities.sum(-2);
  EXPECT_LT((filled - 23.0 / 5).abs().max().item<double>(), 0.05);
}

TEST(PldaVb, FindsOutThatClassesAreAbsent) {
  const PldaTask full = random_task({}, 5, 60, 16);
  PldaTask task = full;
  const at::Tensor present = at::arange(60, at::kLong).remainder(5).lt(2).nonzero().squeeze(1);
  task.queries = full.queries.index_select(0, present);
  const at::Tensor filled = solve(task).responsibilities.sum(0);
  EXPECT_LT(filled.narrow(0, 2, 3).max().item<double>(), 1.0);
  EXPECT_GT(filled.narrow(0, 0, 2).min().item<double>(), 11.0);  // 12 each
}

TEST(PldaVb, FollowsGivenShares) {
  const PldaTask task = random_task({}, 3, 30, 4);
  PldaVbOptions options;
  options.proportions = Proportions::kGiven;
  options.given = {1, 1, 0};
  const PldaVbResult result = solve(task, options);
  EXPECT_LT(result.responsibilities.select(1, 2).max().item<double>(), 1e-6);
  options.given.clear();
  EXPECT_THROW(solve(task, options), UsageError);
}

TEST(PldaVb, DependsNeitherOnTheOrderOfQueriesNorOfClassesNorOnOtherEpisodes) {
  const PldaTask task = random_task({3}, 5, 25, 8);
  const at::Tensor expected = solve(task).responsibilities;
  const at::Tensor queries = at::randperm(25, at::kLong);
  PldaTask shuffled = task;
  shuffled.queries = task.queries.index_select(1, queries);
  EXPECT_LT(error_of(solve(shuffled).responsibilities, expected.index_select(1, queries)), 1e-12);
  const at::Tensor classes = at::randperm(5, at::kLong);
  shuffled = task;
  shuffled.prior.mean = task.prior.mean.index_select(1, classes);
  shuffled.sum = task.sum.index_select(1, classes);
  EXPECT_LT(error_of(solve(shuffled).responsibilities, expected.index_select(2, classes)), 1e-12);
  const PldaTask alone{{task.prior.mean[1], task.prior.variance}, task.count[1], task.sum[1], task.queries[1]};
  EXPECT_LT(error_of(solve(alone).responsibilities, expected[1]), 1e-12);
}

TEST(PldaVb, IsDefinedForOneQueryForFewerQueriesThanClassesAndForNone) {
  for (const auto proportions : {Proportions::kEstimate, Proportions::kBalanced}) {
    PldaVbOptions options;
    options.proportions = proportions;
    for (const int64_t q : {1, 3}) {
      const PldaVbResult result = solve(random_task({2}, 5, q, 8), options);
      EXPECT_TRUE(result.responsibilities.isfinite().all().item<bool>());
      EXPECT_LT((result.responsibilities.sum(-1) - 1).abs().max().item<double>(), 1e-12);
    }
    const PldaTask none = random_task({2}, 5, 0, 8);
    const PldaVbResult result = solve(none, options);
    EXPECT_TRUE(result.means.mean.equal(posterior_of(none.prior, none.count, none.sum).mean));
    EXPECT_EQ(result.responsibilities.sizes(), (std::vector<int64_t>{2, 0, 5}));
  }
}

TEST(PldaVb, WithFullTrustAndSpreadNeverLowersItsBound) {
  // The variational bound up to constants; with trust = spread = 1 every step maximises it over one factor.
  const PldaTask task = random_task({}, 4, 30, 6);
  PldaVbOptions options;
  options.trust = 1;
  options.spread = 1;
  options.proportions = Proportions::kGiven;
  options.given = {1, 1, 1, 1};
  const auto bound = [&](const PldaVbResult& r) {
    const at::Tensor& m = r.means.mean;
    const at::Tensor& v = r.means.variance;
    const at::Tensor distance = (task.queries.unsqueeze(1) - m).square().sum(-1) + v.sum(-1);
    const at::Tensor support = task.sum - m;  // one support a class
    const at::Tensor prior = ((m - task.prior.mean).square() + v) / task.prior.variance;
    return (-0.5 * (r.responsibilities * distance).sum() -
            (r.responsibilities * r.responsibilities.clamp_min(1e-300).log()).sum() -
            0.5 * (support.square() + v).sum() - 0.5 * prior.sum() + 0.5 * v.log().sum())
        .item<double>();
  };
  double before = -1e300;
  for (int64_t steps = 0; steps < 12; ++steps) {
    options.steps = steps;
    const double now = bound(solve(task, options));
    EXPECT_GE(now, before - 1e-9) << "step " << steps;
    before = now;
  }
}

TEST(PldaVb, RefusesSettingsOutOfTheirRange) {
  PldaVbOptions options;
  options.trust = 1.5;
  EXPECT_THROW(solve(random_task({}, 2, 2, 2), options), UsageError);
}

}  // namespace
}  // namespace protocom
