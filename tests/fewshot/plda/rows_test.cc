#include "fewshot/plda/detail/rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fewshot/plda/detail/vb_rows.h"
#include "heads/batch_method.h"
#include "support/matrices.h"
#include "support/plda_reference.h"

namespace protocom {
namespace {

using testing::log_predictive;
using testing::plda_vb;
using testing::plda_vb_scores;
using testing::PldaVbResult;
using testing::posterior_of;
using testing::PosteriorOfMeans;
using testing::PriorOfMeans;
using testing::transformed;

/// Returns a model of `own` dimensions with variances of their own and `rest` that share one.
PldaModel model_of(int64_t own, int64_t rest) {
  at::manual_seed(3);
  const int64_t e = own + rest;
  PldaModel model;
  const auto numbers = [](const at::Tensor& drawn, int64_t others, double value) {
    return vector_of(at::cat({drawn, at::full({others}, value, at::kDouble)}));
  };
  model.space.center = vector_of(at::randn({e}, at::kDouble));
  model.space.projection =
      matrix_of(std::sqrt(static_cast<double>(e)) * std::get<0>(at::linalg_qr(at::randn({e, e}, at::kDouble))));
  model.space.offset = vector_of(0.1 * at::randn({e}, at::kDouble));
  model.space.between = numbers(at::rand({own}, at::kDouble) + 0.5, rest, 0.05);
  model.residual = numbers(at::rand({own}, at::kDouble) + 0.2, rest, 0.03);
  model.space.leading = own;
  return model;
}

struct RaggedTask {
  PriorOfMeans prior;  // float64, [b, n, e]
  at::Tensor support;  // float32 [b, n, k, e], features
  at::Tensor mask;     // [b, n, k]
  at::Tensor query;    // [b, q, e]
  at::Tensor pool;     // [b, u, e]
};

/// Returns ragged supports, none for one class, and a prior that is informative in every dimension.
RaggedTask task_of(const PldaModel& model, int64_t q, int64_t u) {
  const int64_t e = model.residual.size();
  const at::Tensor means = at::randn({2, 4, e});
  const auto around = [&](int64_t count) {
    const at::Tensor who = at::arange(count, at::kLong).remainder(4);
    return means.index_select(1, who) + 0.3 * at::randn({2, count, e});
  };
  RaggedTask task;
  task.prior = {0.5 * at::randn({2, 4, e}, at::kDouble), protocom::tensor_of(model.residual)};
  task.support = around(12).view({2, 3, 4, e}).transpose(1, 2).contiguous();
  task.mask = at::tensor({1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0}, at::kFloat).view({1, 4, 3}).expand({2, 4, 3});
  task.query = around(q);
  task.pool = around(u);
  return task;
}

struct Reference {
  PosteriorOfMeans posterior;
  at::Tensor count, sum;
};

Reference reference_of(const PldaModel& model, const RaggedTask& task) {
  const at::Tensor f = transformed(model.space, task.support) * task.mask.unsqueeze(-1);
  const at::Tensor count = task.mask.sum(-1).to(at::kDouble);
  return {posterior_of(task.prior, count, f.sum(2)), count, f.sum(2)};
}

/// One of the tasks as rows.
struct RowsOfTask {
  FloatMatrix query, pool;  // [q, width], [u, width]
  PldaVbRows rows;

  RowsOfTask(const PldaRows& map, const RaggedTask& task, int64_t b)
      : query(map.rows_of(float_matrix_of(task.query[b]))), pool(map.rows_of(float_matrix_of(task.pool[b]))) {
    rows.prior = in_parts(ClassMeanPrior{matrix_of(task.prior.mean[b]), matrix_of(task.prior.variance)}, map.layout());
    rows.count = vector_of(task.mask[b].sum(-1)).cast<float>();
    rows.sum = float_matrix_of((mapped_tensor(map, task.support[b]) * task.mask[b].unsqueeze(-1)).sum(1));
    rows.pooled = pool.rows() > 0;
    rows.unlabelled = pointers_to(rows.pooled ? pool : query);
    if (rows.pooled) rows.queries = pointers_to(query);
  }
  RowsOfTask(const RowsOfTask&) = delete;
};

/// Returns the results of `answer` for both tasks, [2, q, n].
template <typename Answer>
at::Tensor of_both(const PldaRows& map, const RaggedTask& task, const Answer& answer) {
  std::vector<at::Tensor> found;
  for (int64_t b = 0; b < 2; ++b) found.push_back(protocom::tensor_of(FloatMatrix(answer(RowsOfTask(map, task, b)))));
  return at::stack(found);
}

/// Returns the error of logits relative to their spread, ignoring constants of a query.
double logits_error_of(const at::Tensor& found, const at::Tensor& expected) {
  const auto centred = [](const at::Tensor& x) { return x.to(at::kDouble) - x.to(at::kDouble).mean(-1, true); };
  return ((centred(found) - centred(expected)).abs().max() / centred(expected).abs().max()).item<double>();
}

/// 5 and 70 dimensions of their own with and without a rest: padding within, over and without the rest.
class PldaRowsOfSizes : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {
 protected:
  [[nodiscard]] FloatMatrix means_of(const PldaVbRows& rows) const {
    return rows_of_means(row_posterior(rows.prior, rows.count, rows.sum, map_.layout()));
  }
  [[nodiscard]] PldaRowMetric metric_of(const PldaVbRows& rows) const {
    return row_metric(in_parts(model_.residual, map_.layout()), rows.count.mean(), map_.layout());
  }
  /// Returns log predictives of the queries of both tasks.
  [[nodiscard]] at::Tensor log_predictives(const RaggedTask& task) const {
    return of_both(map_, task, [&](const RowsOfTask& own) {
      return row_log_predictive(row_predictive(means_of(own.rows), metric_of(own.rows)), pointers_to(own.query));
    });
  }

  PldaModel model_ = model_of(GetParam().first, GetParam().second);
  PldaRows map_{model_};
};

/// Returns the reference's posterior with one variance for all classes of an episode: that of a class of 1.5 images,
/// the mean over the classes of task_of().
at::Tensor plain_log_predictive(const PldaModel& model, const RaggedTask& task) {
  const at::Tensor residual = protocom::tensor_of(model.residual), variance = residual / (1 + 1.5 * residual);
  return log_predictive({reference_of(model, task).posterior.mean, variance}, transformed(model.space, task.query));
}

double relative_error_of(const at::Tensor& found, const at::Tensor& expected) {
  return ((found - expected).abs().max() / expected.abs().max()).item<double>();
}

TEST_P(PldaRowsOfSizes, GiveThePlainLogPredictive) {
  const RaggedTask task = task_of(model_, 10, 0);
  EXPECT_LT(relative_error_of(log_predictives(task), plain_log_predictive(model_, task)), 1e-5);
}

TEST_P(PldaRowsOfSizes, GiveTheSameLogPredictiveFromTheImagesSide) {
  const RaggedTask task = task_of(model_, 10, 0);
  const at::Tensor found = of_both(map_, task, [&](const RowsOfTask& own) {
    const FloatMatrix means = means_of(own.rows);
    return row_log_predictive(row_predictive(own.query, metric_of(own.rows)), pointers_to(means));
  });
  EXPECT_LT(relative_error_of(found.transpose(1, 2), plain_log_predictive(model_, task)), 1e-5);
}

TEST_P(PldaRowsOfSizes, GiveTheBayesianAnswerWhereClassesHaveEquallyManyImages) {
  RaggedTask task = task_of(model_, 10, 0);
  task.mask = at::ones({2, 4, 3});
  const at::Tensor expected =
      log_predictive(reference_of(model_, task).posterior, transformed(model_.space, task.query));
  EXPECT_LT(relative_error_of(log_predictives(task), expected), 1e-5);
}

TEST_P(PldaRowsOfSizes, GiveThePlainVariationalAnswers) {
  for (const auto proportions : {Proportions::kEstimate, Proportions::kBalanced, Proportions::kGiven}) {
    for (const int64_t pool : {0, 21}) {
      const RaggedTask task = task_of(model_, 30, pool);
      const Reference plain = reference_of(model_, task);
      PldaVbOptions options;
      options.uncertain = model_.space.leading;
      options.proportions = proportions;
      if (proportions == Proportions::kGiven) options.given = {0.1, 0.4, 0.3, 0.2};
      const at::Tensor queries = transformed(model_.space, task.query);
      const at::Tensor unlabelled = pool > 0 ? transformed(model_.space, task.pool) : queries;
      const PldaVbResult result = plda_vb(task.prior, plain.count, plain.sum, unlabelled, options);
      const at::Tensor found =
          of_both(map_, task, [&](const RowsOfTask& own) { return plda_vb_rows(own.rows, map_.layout(), options); });
      EXPECT_LT(logits_error_of(found, plda_vb_scores(result, queries, options)), 1e-4) << pool;
    }
  }
}

// With a pool, computed dimension by dimension; with the queries themselves, by products between images if there is a
// rest.
TEST_P(PldaRowsOfSizes, GiveTheTransductiveAnswerWhereThePoolIsTheQueries) {
  for (const auto proportions : {Proportions::kEstimate, Proportions::kBalanced}) {
    PldaVbOptions options;
    options.proportions = proportions;
    RaggedTask task = task_of(model_, 30, 0);
    const auto answers = [&] {
      return of_both(map_, task, [&](const RowsOfTask& own) { return plda_vb_rows(own.rows, map_.layout(), options); });
    };
    const at::Tensor alone = answers();
    task.pool = task.query;
    EXPECT_LT(logits_error_of(answers(), alone), 1e-4);
  }
}

TEST_P(PldaRowsOfSizes, AreDefinedForOneImageAndForNone) {
  const RaggedTask task = task_of(model_, 1, 0);
  RowsOfTask own(map_, task, 0);
  EXPECT_TRUE(plda_vb_rows(own.rows, map_.layout(), {}).allFinite());
  own.rows.unlabelled.clear();
  const FloatMatrix none = plda_vb_rows(own.rows, map_.layout(), {});
  EXPECT_EQ(none.rows(), 0);
  EXPECT_EQ(none.cols(), 4);
}

INSTANTIATE_TEST_SUITE_P(Sizes, PldaRowsOfSizes,
                         ::testing::Values(std::pair<int64_t, int64_t>{5, 40}, std::pair<int64_t, int64_t>{70, 60},
                                           std::pair<int64_t, int64_t>{5, 3}, std::pair<int64_t, int64_t>{16, 0},
                                           std::pair<int64_t, int64_t>{30, 20}));

TEST(PldaRows, AreSharedByModelsOfOneSpace) {
  const PldaModel model = model_of(5, 20);
  PldaModel other = model;
  EXPECT_TRUE(PldaRows(model).same_as(PldaRows(other)));
  other.space.offset.array() += 1;
  EXPECT_FALSE(PldaRows(model).same_as(PldaRows(other)));
}

}  // namespace
}  // namespace protocom
