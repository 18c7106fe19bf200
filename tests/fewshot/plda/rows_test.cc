#include "fewshot/plda/detail/rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fewshot/plda/detail/vb_rows.h"
#include "support/plda_reference.h"

namespace protocom {
namespace {

using testing::log_predictive;
using testing::plda_vb;
using testing::plda_vb_scores;
using testing::PldaVbResult;

/// A model of `own` dimensions with variances of their own and `rest` that share one.
PldaModel model_of(int64_t own, int64_t rest) {
  at::manual_seed(3);
  const int64_t e = own + rest;
  PldaModel model;
  model.space.center = at::randn({e}, at::kDouble);
  model.space.projection =
      std::sqrt(static_cast<double>(e)) * std::get<0>(at::linalg_qr(at::randn({e, e}, at::kDouble)));
  model.space.offset = 0.1 * at::randn({e}, at::kDouble);
  model.space.between = at::cat({at::rand({own}, at::kDouble) + 0.5, at::full({rest}, 0.05, at::kDouble)});
  model.residual = at::cat({at::rand({own}, at::kDouble) + 0.2, at::full({rest}, 0.03, at::kDouble)});
  model.space.leading = own;
  return model;
}

struct RaggedTask {
  ClassMeanPrior prior;  // float64, [b, n, e]
  at::Tensor support;    // float32 [b, n, k, e], features
  at::Tensor mask;       // [b, n, k]
  at::Tensor query;      // [b, q, e]
  at::Tensor pool;       // [b, u, e]
};

/// Ragged supports, of one class none; a prior that says something in every dimension.
RaggedTask task_of(const PldaModel& model, int64_t q, int64_t u) {
  const int64_t e = model.residual.size(0);
  const at::Tensor means = at::randn({2, 4, e});
  const auto around = [&](int64_t count) {
    const at::Tensor who = at::arange(count, at::kLong).remainder(4);
    return means.index_select(1, who) + 0.3 * at::randn({2, count, e});
  };
  RaggedTask task;
  task.prior = {0.5 * at::randn({2, 4, e}, at::kDouble), model.residual};
  task.support = around(12).view({2, 3, 4, e}).transpose(1, 2).contiguous();
  task.mask = at::tensor({1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0}, at::kFloat).view({1, 4, 3}).expand({2, 4, 3});
  task.query = around(q);
  task.pool = around(u);
  return task;
}

struct Reference {
  ClassMeanPosterior posterior;
  at::Tensor count, sum;
};

Reference reference_of(const PldaModel& model, const RaggedTask& task) {
  const at::Tensor f = model.space.transform(task.support.to(at::kDouble)) * task.mask.unsqueeze(-1);
  const at::Tensor count = task.mask.sum(-1).to(at::kDouble);
  return {class_mean_posterior(task.prior, count, f.sum(2)), count, f.sum(2)};
}

PldaRowBelief belief_of(const RaggedTask& task, const PldaLayout& layout) {
  const PldaRowBelief flat = in_parts({task.prior.mean.flatten(0, 1), task.prior.variance}, layout);
  const auto split = [](const at::Tensor& rows) { return rows.view({2, 4, rows.size(1)}); };
  return {split(flat.mean_varied), split(flat.variance_varied), split(flat.mean_rest), flat.variance_rest.view({2, 4})};
}

PldaVbRows rows_of(const PldaRows& map, const RaggedTask& task) {
  return {belief_of(task, map.layout()),
          task.mask.sum(-1),
          (map.map(task.support) * task.mask.unsqueeze(-1)).sum(2),
          map.map(task.query),
          {}};
}

/// Logits up to what a query gives every class, over their spread.
double logits_error_of(const at::Tensor& found, const at::Tensor& expected) {
  const auto centred = [](const at::Tensor& x) { return x.to(at::kDouble) - x.to(at::kDouble).mean(-1, true); };
  return ((centred(found) - centred(expected)).abs().max() / centred(expected).abs().max()).item<double>();
}

/// 5 and 70 dimensions of their own with and without a rest: padding within, over and without the rest.
class PldaRowsOfSizes : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {
 protected:
  /// The task's pool as what is unlabelled, in `rows`, and as it is in the model's space, float64 [b, u, e].
  at::Tensor with_pool(const RaggedTask& task, PldaVbRows& rows) const {
    rows.queries = rows.unlabelled;
    rows.unlabelled = map_.map(task.pool);
    return model_.space.transform(task.pool.to(at::kDouble));
  }

  PldaModel model_ = model_of(GetParam().first, GetParam().second);
  PldaRows map_{model_};
};

/// The reference's posterior with one variance for all classes of an episode: what a class of 1.5 images has left,
/// which is how many those of task_of() have on average.
at::Tensor plain_log_predictive(const PldaModel& model, const RaggedTask& task) {
  const at::Tensor variance = model.residual / (1 + 1.5 * model.residual);
  return log_predictive({reference_of(model, task).posterior.mean, variance},
                        model.space.transform(task.query.to(at::kDouble)));
}

TEST_P(PldaRowsOfSizes, GiveThePlainLogPredictive) {
  const RaggedTask task = task_of(model_, 10, 0);
  const PldaVbRows rows = rows_of(map_, task);
  const at::Tensor means = rows_of_means(row_posterior(rows.prior, rows.count, rows.sum, map_.layout()));
  const PldaRowMetric metric = row_metric(in_parts(model_.residual, map_.layout()), rows.count, map_.layout());
  const at::Tensor expected = plain_log_predictive(model_, task);
  const at::Tensor found = row_log_predictive(row_predictive(means, metric), rows.unlabelled);
  EXPECT_LT(((found - expected).abs().max() / expected.abs().max()).item<double>(), 1e-5);
}

TEST_P(PldaRowsOfSizes, GiveTheSameLogPredictiveFromTheImagesSide) {
  const RaggedTask task = task_of(model_, 10, 0);
  const PldaVbRows rows = rows_of(map_, task);
  const at::Tensor means = rows_of_means(row_posterior(rows.prior, rows.count, rows.sum, map_.layout()));
  const PldaRowMetric metric = row_metric(in_parts(model_.residual, map_.layout()), rows.count, map_.layout());
  const at::Tensor expected = plain_log_predictive(model_, task);
  const at::Tensor found = row_log_predictive_of_images(row_predictive(rows.unlabelled, metric), means);
  EXPECT_LT(((found - expected).abs().max() / expected.abs().max()).item<double>(), 1e-5);
}

TEST_P(PldaRowsOfSizes, GiveTheBayesianAnswerWhereClassesHaveEquallyManyImages) {
  RaggedTask task = task_of(model_, 10, 0);
  task.mask = at::ones({2, 4, 3});
  const PldaVbRows rows = rows_of(map_, task);
  const at::Tensor means = rows_of_means(row_posterior(rows.prior, rows.count, rows.sum, map_.layout()));
  const PldaRowMetric metric = row_metric(in_parts(model_.residual, map_.layout()), rows.count, map_.layout());
  const at::Tensor expected =
      log_predictive(reference_of(model_, task).posterior, model_.space.transform(task.query.to(at::kDouble)));
  const at::Tensor found = row_log_predictive(row_predictive(means, metric), rows.unlabelled);
  EXPECT_LT(((found - expected).abs().max() / expected.abs().max()).item<double>(), 1e-5);
}

TEST_P(PldaRowsOfSizes, GiveThePlainVariationalAnswers) {
  for (const auto proportions : {Proportions::kEstimate, Proportions::kBalanced, Proportions::kGiven}) {
    for (const int64_t pool : {0, 21}) {
      const RaggedTask task = task_of(model_, 30, pool);
      const Reference plain = reference_of(model_, task);
      PldaVbOptions options;
      options.uncertain = model_.space.leading;
      options.proportions = proportions;
      if (proportions == Proportions::kGiven) options.given = at::tensor({0.1, 0.4, 0.3, 0.2}, at::kDouble);
      PldaVbRows rows = rows_of(map_, task);
      const at::Tensor queries = model_.space.transform(task.query.to(at::kDouble));
      const at::Tensor unlabelled = pool > 0 ? with_pool(task, rows) : queries;
      const PldaVbResult result = plda_vb(task.prior, plain.count, plain.sum, unlabelled, options);
      const at::Tensor found = plda_vb_rows(rows, map_.layout(), options);
      EXPECT_LT(logits_error_of(found, plda_vb_scores(result, queries, options)), 1e-4) << pool;
    }
  }
}

TEST_P(PldaRowsOfSizes, GiveThePlainVariationalAnswersWhereTheLabelledImagesBoundThem) {
  for (const int64_t pool : {0, 21}) {
    const RaggedTask task = task_of(model_, 30, pool);
    const Reference plain = reference_of(model_, task);
    PldaVbOptions options;
    options.uncertain = model_.space.leading;
    options.least_weight = 0.5;  // 1.5 images per class: .82 counts
    PldaVbRows rows = rows_of(map_, task);
    const at::Tensor queries = model_.space.transform(task.query.to(at::kDouble));
    const at::Tensor unlabelled = pool > 0 ? with_pool(task, rows) : queries;
    const at::Tensor alone = at::randn({2, unlabelled.size(1), 4}, at::kDouble);
    rows.handicap = vb_handicap(alone, 0.3);
    const PldaVbResult result = plda_vb(task.prior, plain.count, plain.sum, unlabelled, options, rows.handicap);
    const at::Tensor expected =
        pool > 0 ? plda_vb_scores(result, queries, options) : plda_vb_scores(result, queries, options) + rows.handicap;
    EXPECT_LT(logits_error_of(plda_vb_rows(rows, map_.layout(), options), expected), 1e-4) << pool;
  }
}

TEST(PldaVbHandicap, BeginsWhereAClassIsImplausible) {
  const at::Tensor alone = at::tensor({0.6, 0.3, 0.1}, at::kDouble).log() - 4;
  const at::Tensor found = vb_handicap(alone, 0.4);
  EXPECT_EQ(found[0].item<double>(), 0);
  EXPECT_EQ(found[1].item<double>(), 0) << "half as likely as the likeliest";
  EXPECT_NEAR(found[2].item<double>(), 100 * std::log(0.1 / 0.6 / 0.4), 1e-9);
}

// A large class has a part of its own beside a small class, nearer to that than to its own mean once the batch has
// moved the means. Judged one by one its images are sure.
TEST(PldaVbHandicap, KeepsAPartOfALargeClassFromFillingASmallOne) {
  PldaModel model = model_of(8, 0);
  const PldaRows map(model);
  const PldaLayout layout = map.layout();
  const auto at_place = [](double x, double y) {
    at::Tensor row = at::zeros({8}, at::kDouble);
    row[0] = x;
    row[1] = y;
    return row;
  };
  const at::Tensor large = at_place(0, 0), part = at_place(4.2, 1), small = at_place(9, 0);
  const at::Tensor elsewhere = at::arange(8, at::kLong).gt(1);
  const auto noisy = [&](const at::Tensor& mean, int64_t count) {
    return mean + 0.3 * at::randn({count, 8}, at::kDouble) * elsewhere;
  };
  const at::Tensor images = at::cat({noisy(large, 60), noisy(part, 25), noisy(small, 3)});
  const auto as_row = [&](const at::Tensor& f) {
    const at::Tensor padded = at::constant_pad_nd(f, {0, layout.padded - 8}).to(at::kFloat);
    return at::constant_pad_nd(at::cat({padded, padded * padded}, -1), {0, layout.width() - 2 * layout.padded});
  };
  const at::Tensor sums = at::stack({4 * large, 4 * small});  // no labelled image shows the part
  PldaVbRows rows{in_parts({at::zeros({2, 8}, at::kDouble), at::full({8}, 20, at::kDouble)}, layout),
                  at::full({1, 2}, 4.0),
                  as_row(sums).unsqueeze(0),
                  as_row(images).unsqueeze(0),
                  {}};
  for (at::Tensor* each :
       {&rows.prior.mean_varied, &rows.prior.variance_varied, &rows.prior.mean_rest, &rows.prior.variance_rest})
    *each = each->unsqueeze(0);
  PldaVbOptions options;
  options.spread = 0;
  const auto right_of_part = [&] {
    return plda_vb_rows(rows, layout, options)[0].narrow(0, 60, 25).argmax(1).eq(0).sum().item<int64_t>();
  };
  const at::Tensor means = sums / 4.05;
  const at::Tensor alone = -0.5 * at::cdist(images, means).square();
  ASSERT_EQ(alone.narrow(0, 60, 25).argmax(1).eq(0).sum().item<int64_t>(), 25) << "one by one all are right";
  EXPECT_LT(right_of_part(), 5);
  rows.handicap = vb_handicap(alone.unsqueeze(0), 0.3);
  EXPECT_EQ(right_of_part(), 25);
}

// With a pool, dimension by dimension; of the queries themselves by products between images, where there is a rest.
TEST_P(PldaRowsOfSizes, GiveTheTransductiveAnswerWhereThePoolIsTheQueries) {
  for (const auto proportions : {Proportions::kEstimate, Proportions::kBalanced}) {
    PldaVbOptions options;
    options.proportions = proportions;
    PldaVbRows rows = rows_of(map_, task_of(model_, 30, 0));
    const at::Tensor alone = plda_vb_rows(rows, map_.layout(), options);
    rows.queries = rows.unlabelled;
    EXPECT_LT(logits_error_of(plda_vb_rows(rows, map_.layout(), options), alone), 1e-4);
  }
}

TEST_P(PldaRowsOfSizes, AreDefinedForOneImageAndForNone) {
  const RaggedTask task = task_of(model_, 1, 0);
  PldaVbRows rows = rows_of(map_, task);
  EXPECT_TRUE(plda_vb_rows(rows, map_.layout(), {}).isfinite().all().item<bool>());
  rows.unlabelled = rows.unlabelled.narrow(1, 0, 0);
  EXPECT_EQ(plda_vb_rows(rows, map_.layout(), {}).sizes(), (std::vector<int64_t>{2, 0, 4}));
}

INSTANTIATE_TEST_SUITE_P(Sizes, PldaRowsOfSizes,
                         ::testing::Values(std::pair<int64_t, int64_t>{5, 40}, std::pair<int64_t, int64_t>{70, 60},
                                           std::pair<int64_t, int64_t>{5, 3}, std::pair<int64_t, int64_t>{16, 0},
                                           std::pair<int64_t, int64_t>{30, 20}));

TEST(PldaRows, AreSharedByModelsOfOneSpace) {
  const PldaModel model = model_of(5, 20);
  PldaModel other = model;
  EXPECT_TRUE(PldaRows(model).same_as(PldaRows(other)));
  other.space.offset = other.space.offset + 1;
  EXPECT_FALSE(PldaRows(model).same_as(PldaRows(other)));
}

}  // namespace
}  // namespace protocom
