#include "fewshot/plda/detail/probabilities.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fewshot/plda/detail/known.h"
#include "support/plda_world.h"

namespace protocom {
namespace {

using testing::plda_world;
using testing::PldaWorldOptions;

TEST(ByShots, IsLinearInKOverKPlusOneBetweenNoneOneAndFive) {
  const ByShots values{4, 2, 8};
  EXPECT_DOUBLE_EQ(values.at(0), 4);
  EXPECT_DOUBLE_EQ(values.at(1), 2);
  EXPECT_DOUBLE_EQ(values.at(5), 8);
  EXPECT_DOUBLE_EQ(values.at(2), 5) << "2/3 is half way from 1/2 to 5/6";
  EXPECT_NEAR(values.at(0.5), 4 - 2 * 2.0 / 3, 1e-12) << "1/3 is two thirds of the way from 0 to 1/2";
  EXPECT_DOUBLE_EQ(values.at(100), 8);
}

TEST(BestScale, FindsTheSharpnessThatLabelsWereDrawnWith) {
  at::manual_seed(2);
  const at::Tensor scores = 4 * at::randn({20, 500, 5});
  PldaTasks tasks;
  tasks.labels = (0.3 * scores).softmax(-1).view({10000, 5}).multinomial(1).view({20, 500});
  const ScaleTrial found = best_scale({tasks}, [&](const PldaTasks&) { return scores; });
  EXPECT_NEAR(found.scale, 0.3, 0.02);
  const at::Tensor truth = (0.3 * scores).log_softmax(-1).gather(-1, tasks.labels.unsqueeze(-1));
  EXPECT_NEAR(found.loss, -truth.mean().item<double>(), 0.005);
}

/// By how much confidence in 15 bins differs from the share that is right.
double calibration_error(const at::Tensor& probability, const at::Tensor& right) {
  double error = 0;
  for (int bin = 0; bin < 15; ++bin) {
    const at::Tensor here = probability.gt(bin / 15.0).logical_and(probability.le((bin + 1) / 15.0)).to(at::kDouble);
    error += std::abs(((probability - right) * here).sum().item<double>());
  }
  return error / static_cast<double>(probability.numel());
}

TEST(SetProbabilities, AreRightForClassesThatAreDrawnFromTheModel) {
  PldaModel model;
  set_probabilities({plda_world({100, 60})}, {false, {200, 1}}, model);
  EXPECT_NEAR(model.inductive_scale.one, 1, 0.12);
  EXPECT_NEAR(model.inductive_scale.five, 1, 0.12);
  const HeldOutClasses others = plda_world({100, 60}, 18);
  for (const int64_t k_shot : {1, 5}) {
    Rng rng(8);
    const PldaTasks tasks = draw_tasks(others, {200, k_shot}, rng);
    const at::Tensor scores = inductive_scores(tasks);
    const auto [sure, answer] = (model.inductive_scale.at(static_cast<double>(k_shot)) * scores).softmax(-1).max(-1);
    EXPECT_LT(100 * calibration_error(sure.to(at::kDouble), answer.eq(tasks.labels).to(at::kDouble)), 2) << k_shot;
    const PldaTasks half = with_others(draw_tasks(others, {200, k_shot, TaskQueries::kBalanced, 10}, rng), 5);
    const at::Tensor none = row_log_predictive(others.nothing, half.queries).squeeze(-1);
    const auto shots = static_cast<double>(k_shot);
    const at::Tensor scale = at::full({1, 1, 1}, model.inductive_scale.at(shots));
    const at::Tensor ratio = known_ratio(inductive_scores(half), none, scale);
    const auto value = [&](const ByShots& values) { return at::full({1, 1}, values.at(shots)); };
    const at::Tensor none_odds =
        log_odds_of_none(ratio, value(model.known_slope), value(model.known_offset), value(model.known_alike));
    const at::Tensor known = (-none_odds).sigmoid();
    EXPECT_LT(100 * calibration_error(known.to(at::kDouble), half.labels.lt(5).to(at::kDouble)), 2.5) << k_shot;
  }
}

TEST(SetProbabilities, LeaveTheDefaultsWhereThereIsOneImageAClassAndWhereNoClassCanBeLeftOut) {
  PldaModel model;
  set_probabilities({plda_world({8, 1})}, {}, model);
  EXPECT_EQ(model.inductive_scale.one, 1);
  set_probabilities({plda_world({3, 20})}, {}, model);
  EXPECT_NE(model.inductive_scale.one, 1);
  EXPECT_EQ(model.known_slope.one, 1);
  EXPECT_EQ(model.known_offset.one, 0);
}

/// Tasks of five classes with one or five images each, as a coin falls, and ten queries per class.
PldaTasks uneven_tasks(const HeldOutClasses& world) {
  constexpr int64_t kTasks = 200;
  Rng rng(9);
  PldaTasks tasks = draw_tasks(world, {kTasks, 5}, rng);
  tasks.labels = at::arange(5).repeat_interleave(10).expand({kTasks, 50});
  for (int64_t t = 0; t < kTasks; ++t) {
    const auto classes = rng.sample(static_cast<int64_t>(world.rows.size()), 5);
    for (int64_t k = 0; k < 5; ++k) {
      const auto& rows = world.rows[static_cast<size_t>(classes[static_cast<size_t>(k)])];
      const int64_t shots = rng.below(2) == 0 ? 1 : 5;
      tasks.count[t][k] = shots;
      tasks.sum[t][k] = world.features.slice(0, rows.front(), rows.front() + shots).sum(0);
      tasks.queries[t].slice(0, 10 * k, 10 * k + 10) = world.features.slice(0, rows[10], rows[20]);
    }
  }
  return tasks;
}

/// The share of queries that go to classes of one image over the fair one.
double share_of_small_classes(const PldaTasks& tasks, const at::Tensor& scores) {
  const at::Tensor small = tasks.count.eq(1);  // [b, n]
  const double got = small.gather(1, scores.argmax(-1)).to(at::kDouble).mean().item<double>();
  return got / small.to(at::kDouble).mean().item<double>();
}

/// Scores by each class's own variance v, of one variance in all dimensions.
at::Tensor scores_by_own_variance(const PldaTasks& tasks, double before) {
  const PldaRowBelief posterior = row_posterior(tasks.prior, tasks.count, tasks.sum, tasks.layout);
  const at::Tensor mean = posterior.mean_varied.unsqueeze(1);                              // [b, 1, n, dims]
  const at::Tensor query = tasks.queries.narrow(-1, 0, tasks.layout.padded).unsqueeze(2);  // [b, q, 1, dims]
  const at::Tensor spread = 1 + before / (1 + before * tasks.count.unsqueeze(1));          // [b, 1, n]
  return -0.5 * ((query - mean).square().sum(-1) / spread + static_cast<double>(tasks.layout.dims) * spread.log());
}

PldaWorldOptions world_of_variance(double between, double within, double stated_between) {
  PldaWorldOptions options;
  options.classes = 60;
  options.dims = 64;
  options.between = between;
  options.within = within;
  options.stated_between = stated_between;
  return options;
}

TEST(InductiveScores, GiveClassesOfOneImageBesideOthersOfFiveTheirShare) {
  const PldaTasks tasks = uneven_tasks(plda_world(world_of_variance(0.5, 1, 0.5)));
  EXPECT_NEAR(share_of_small_classes(tasks, inductive_scores(tasks)), 1, 0.2);
}

// Where variances are overstated, as they are on purpose, classes of many images would draw in those of others.
TEST(InductiveScores, GiveClassesOfOneImageTheirShareWhereVariancesAreOverstated) {
  const PldaTasks tasks = uneven_tasks(plda_world(world_of_variance(0.05, 0.2, 1)));
  EXPECT_LT(share_of_small_classes(tasks, scores_by_own_variance(tasks, 1)), 0.3);
  EXPECT_NEAR(share_of_small_classes(tasks, inductive_scores(tasks)), 1, 0.2);
}

}  // namespace
}  // namespace protocom
