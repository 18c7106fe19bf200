#include "fewshot/plda/detail/probabilities.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fewshot/plda/detail/known.h"
#include "support/matrices.h"
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
  const at::Tensor labels = (0.3 * scores).softmax(-1).view({10000, 5}).multinomial(1).view({20, 500});
  PldaTasks tasks;
  tasks.tasks.resize(20);
  for (int64_t t = 0; t < 20; ++t) tasks.tasks[static_cast<size_t>(t)].labels = labels_of(labels[t]);
  const ScaleTrial found = best_scale({tasks}, [&](const PldaTasks& of, const HeldOutTask& task) {
    return float_matrix_of(scores[&task - of.tasks.data()]);
  });
  EXPECT_NEAR(found.scale, 0.3, 0.02);
  const at::Tensor truth = (0.3 * scores).log_softmax(-1).gather(-1, labels.unsqueeze(-1));
  EXPECT_NEAR(found.loss, -truth.mean().item<double>(), 0.005);
}

/// Returns inductive scores of all tasks, which have equally many queries each, [b, q, n].
at::Tensor all_scores(const PldaTasks& tasks) {
  std::vector<at::Tensor> all;
  for (const FloatMatrix& scores : scores_of(tasks, inductive_scores)) all.push_back(protocom::tensor_of(scores));
  return at::stack(all);
}

at::Tensor all_labels(const PldaTasks& tasks) {
  std::vector<at::Tensor> all;
  for (const HeldOutTask& task : tasks.tasks) all.push_back(at::tensor(task.labels, at::kLong));
  return at::stack(all);
}

/// Returns the difference between confidence and accuracy over 15 bins.
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
    const auto shots = static_cast<double>(k_shot);
    const double scale = model.inductive_scale.at(shots);
    const auto [sure, answer] = (scale * all_scores(tasks)).softmax(-1).max(-1);
    const at::Tensor right = answer.eq(all_labels(tasks)).to(at::kDouble);
    EXPECT_LT(100 * calibration_error(sure.to(at::kDouble), right), 2) << k_shot;
    const PldaTasks half = with_others(draw_tasks(others, {200, k_shot, TaskQueries::kBalanced, 10}, rng), 5);
    const KnownChance chance{model.known_slope.at(shots), model.known_offset.at(shots), model.known_alike.at(shots)};
    const std::vector<FloatMatrix> scores = scores_of(half, inductive_scores);
    std::vector<double> known, is;
    for (size_t t = 0; t < scores.size(); ++t) {
      const HeldOutTask& task = half.tasks[t];
      const DoubleVector none = row_log_predictive(others.undescribed, task.queries).col(0).cast<double>();
      const DoubleVector ratio = known_ratio(scores[t].cast<double>(), none, scale);
      for (int64_t i = 0; i < ratio.size(); ++i)
        known.push_back(1 / (1 + std::exp(log_odds_of_none(ratio[i], chance))));
      for (const int64_t label : task.labels) is.push_back(label < 5 ? 1 : 0);
    }
    EXPECT_LT(100 * calibration_error(at::tensor(known, at::kDouble), at::tensor(is, at::kDouble)), 2.5) << k_shot;
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

/// Returns tasks of five classes with one or five images each, by a coin toss, and ten queries per class.
PldaTasks uneven_tasks(const HeldOutClasses& world) {
  constexpr int64_t kTasks = 200;
  Rng rng(9);
  PldaTasks tasks = draw_tasks(world, {kTasks, 5}, rng);
  const FloatMatrix& features = *world.features;
  for (HeldOutTask& task : tasks.tasks) {
    task.labels.clear();
    task.queries.clear();
    const auto classes = rng.sample(static_cast<int64_t>(world.rows.size()), 5);
    for (int64_t k = 0; k < 5; ++k) {
      const auto& rows = world.rows[static_cast<size_t>(classes[static_cast<size_t>(k)])];
      const int64_t shots = rng.below(2) == 0 ? 1 : 5;
      task.count[k] = static_cast<float>(shots);
      task.sum.row(k) = features.middleRows(rows.front(), shots).colwise().sum();
      for (size_t i = 10; i < 20; ++i) task.queries.push_back(features.row(rows[i]).data());
      task.labels.insert(task.labels.end(), 10, k);
    }
  }
  return tasks;
}

/// Returns the share of queries that are answered by classes of one image, relative to the fair share.
template <typename Scores>
double share_of_small_classes(const PldaTasks& tasks, const Scores& scores) {
  double got = 0, small = 0;
  for (const HeldOutTask& task : tasks.tasks) {
    const FloatMatrix own = scores(tasks, task);
    for (int64_t i = 0; i < own.rows(); ++i) {
      Eigen::Index best = 0;
      own.row(i).maxCoeff(&best);
      got += task.count[best] == 1 ? 1 : 0;
    }
    small += static_cast<double>(own.rows()) * (task.count.array() == 1).cast<double>().mean();
  }
  return got / small;
}

/// Returns scores with each class's own variance v, the same in all dimensions.
FloatMatrix scores_by_own_variance(const PldaTasks& of, const HeldOutTask& task) {
  constexpr float kBefore = 1;
  const FloatMatrix means = row_posterior(task.prior, task.count, task.sum, of.layout).mean_varied;
  FloatMatrix scores(static_cast<int64_t>(task.queries.size()), means.rows());
  for (int64_t i = 0; i < scores.rows(); ++i) {
    const Eigen::Map<const Eigen::RowVectorXf> query(task.queries[static_cast<size_t>(i)], of.layout.padded);
    for (int64_t c = 0; c < means.rows(); ++c) {
      const float spread = 1 + kBefore / (1 + kBefore * task.count[c]);
      scores(i, c) = -0.5F * ((query - means.row(c)).squaredNorm() / spread +
                              static_cast<float>(of.layout.dims) * std::log(spread));
    }
  }
  return scores;
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
  EXPECT_NEAR(share_of_small_classes(tasks, inductive_scores), 1, 0.2);
}

// If variances are overstated, as they are on purpose, classes of many images would attract those of others.
TEST(InductiveScores, OneImageClassesGetTheirShareDespiteOverstatedVariances) {
  const PldaTasks tasks = uneven_tasks(plda_world(world_of_variance(0.05, 0.2, 1)));
  EXPECT_LT(share_of_small_classes(tasks, scores_by_own_variance), 0.3);
  EXPECT_NEAR(share_of_small_classes(tasks, inductive_scores), 1, 0.2);
}

}  // namespace
}  // namespace protocom
