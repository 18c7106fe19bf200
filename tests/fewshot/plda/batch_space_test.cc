#include "fewshot/plda/detail/batch_space.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/adapted_axes.h"
#include "fewshot/plda/detail/batch_scale.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/task_classifier.h"
#include "support/golden.h"
#include "support/matrices.h"
#include "support/plda_reference.h"
#include "support/scorer.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::nothing_known;
using testing::plda_vb;
using testing::plda_vb_scores;
using testing::PldaVbResult;
using testing::posterior_of;
using testing::PosteriorOfMeans;
using testing::transformed;

constexpr int64_t kBatchClasses = 5, kBatchQueries = 60, kBatchDims = 120, kLoudDims = 8;

/// Returns one labelled image per class; images of a class differ far more in a few dimensions than in the others.
EpisodeBatch loud_episode(uint64_t seed, int64_t shots = 1, int64_t queries = kBatchQueries) {
  at::manual_seed(seed);
  at::Tensor deviation = at::full({kBatchDims}, 0.7);
  deviation.narrow(0, 0, kLoudDims).fill_(3.2);
  const at::Tensor means = 0.45 * at::randn({kBatchClasses, kBatchDims});
  const at::Tensor labels = at::arange(queries, at::kLong).remainder(kBatchClasses);
  const auto around = [&](const at::Tensor& mean) { return mean + deviation * at::randn_like(mean); };
  EpisodeBatch batch;
  batch.support = around(means.unsqueeze(1).expand({kBatchClasses, shots, kBatchDims})).unsqueeze(0);
  batch.query = around(means.index_select(0, labels)).unsqueeze(0);
  return batch;
}

std::vector<int64_t> support_labels(int64_t shots) {
  return labels_of(at::arange(kBatchClasses).repeat_interleave(shots));
}

PldaModel model_for(const EpisodeBatch& batch) {
  const int64_t shots = batch.support.size(2);
  const auto state = make_method("plda-vb")->state();
  return adapted(plda_model_of(state), matrix_of(batch.support), support_labels(shots), kBatchClasses);
}

at::Tensor logits_by(const PldaModel& model, const EpisodeBatch& batch) {
  const auto method = make_method("plda-vb");
  method->load(state_of(model, {}));
  return testing::scores_of(*method, {}, batch).logits.squeeze(0).to(at::kDouble);
}

double share_right(const at::Tensor& logits) {
  const at::Tensor labels = at::arange(logits.size(0), at::kLong).remainder(kBatchClasses);
  return logits.argmax(1).eq(labels).to(at::kDouble).mean().item<double>();
}

TEST(PldaVbHandicap, BeginsWhereAClassIsImplausible) {
  DoubleMatrix alone(1, 3);
  alone << std::log(0.6) - 4, std::log(0.3) - 4, std::log(0.1) - 4;
  const DoubleMatrix found = vb_handicap(alone, 0.4);
  EXPECT_EQ(found(0, 0), 0);
  EXPECT_EQ(found(0, 1), 0) << "half as likely as the likeliest";
  EXPECT_NEAR(found(0, 2), 100 * std::log(0.1 / 0.6 / 0.4), 1e-9);
}

TEST(PldaBatchSpace, AnswersAreThePlainVariationalOnesThatTheLabelledImagesBound) {
  constexpr int64_t kDims = 12, kScale = 2;
  at::manual_seed(3);
  const at::Tensor between = at::rand({kDims}, at::kDouble) + 0.2, count = at::tensor({1.0, 3.0, 0.0, 2.0});
  const at::Tensor sum = at::randn({4, kDims}, at::kDouble) * count.unsqueeze(1);
  const at::Tensor unlabelled = at::randn({30, kDims}, at::kDouble), queries = at::randn({9, kDims}, at::kDouble);
  const PosteriorOfMeans posterior = posterior_of(nothing_known(between, 4), count, sum);
  const at::Tensor variance = 1 + between / (1 + 1.5 * between);
  const auto bound = [&](const at::Tensor& images) {
    const at::Tensor distance = ((images.unsqueeze(1) - posterior.mean).square() / variance).sum(-1);
    const at::Tensor alone = -0.5 * kScale * distance;
    return 100 * (alone - std::get<0>(alone.max(1, true)) - std::log(0.3)).clamp_max(0);
  };
  PldaVbOptions options;
  options.plausible = 0.3;
  options.least_weight = 0.5;  // 1.5 images per class: .82 counts
  BatchTask task;
  task.unlabelled = matrix_of(unlabelled);
  task.sum = matrix_of(sum);
  task.count = vector_of(count);
  task.space.between = vector_of(between);
  for (const bool pooled : {false, true}) {
    task.pooled = pooled;
    if (pooled) task.queries = matrix_of(queries);
    const at::Tensor& asked = pooled ? queries : unlabelled;
    const PldaVbResult result = plda_vb(nothing_known(between, 4), count, sum, unlabelled, options, bound(unlabelled));
    const at::Tensor expected = plda_vb_scores(result, asked, options) + bound(asked);
    const at::Tensor found = protocom::tensor_of(batch_scores(task, options, kScale));
    EXPECT_LT(error_of(found.log_softmax(-1), expected.log_softmax(-1)), 1e-4) << pooled;
  }
}

// A part of a large class lies beside a small class, nearer to it than to its own mean once the batch has moved the
// means. Judged one by one its images are certain.
TEST(PldaVbHandicap, KeepsAPartOfALargeClassFromFillingASmallOne) {
  at::manual_seed(2);
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
  const at::Tensor sums = at::stack({4 * large, 4 * small});  // no labelled image shows the part
  BatchTask task;
  task.unlabelled = matrix_of(images);
  task.sum = matrix_of(sums);
  task.count = DoubleVector::Constant(2, 4);
  task.space.between = DoubleVector::Constant(8, 20);
  PldaVbOptions options;
  options.spread = 0;
  const double variance = 1 + 20.0 / 81;  // of an image around a class mean
  const auto right_of_part = [&] {
    const at::Tensor scores = protocom::tensor_of(batch_scores(task, options, variance));
    return scores.narrow(0, 60, 25).argmax(1).eq(0).sum().item<int64_t>();
  };
  const at::Tensor alone = -0.5 * at::cdist(images, sums / 4.05).square();
  ASSERT_EQ(alone.narrow(0, 60, 25).argmax(1).eq(0).sum().item<int64_t>(), 25) << "one by one all are right";
  EXPECT_LT(right_of_part(), 5);
  options.plausible = 0.3;
  EXPECT_EQ(right_of_part(), 25);
}

TEST(PldaBatchSpace, ImagesOfABatchTellInWhatImagesOfAClassDiffer) {
  double following = 0, staying = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const EpisodeBatch batch = loud_episode(seed, 3, 300);
    PldaModel model = model_for(batch);
    following += share_right(logits_by(model, batch)) / 4;
    model.vb.degrees = 0;
    staying += share_right(logits_by(model, batch)) / 4;
  }
  EXPECT_GT(following, staying + 0.03);
}

TEST(PldaBatchSpace, EndlessTrustInTheSpaceLeavesItAsItIs) {
  for (const int64_t shots : {1, 4}) {
    const EpisodeBatch batch = loud_episode(5, shots);
    PldaModel model = model_for(batch);
    model.vb.degrees = 1e12;
    const at::Tensor endless = logits_by(model, batch).softmax(1);
    model.vb.degrees = 0;
    EXPECT_LT(error_of(endless, logits_by(model, batch).softmax(1)), 1e-3);
  }
}

TEST(PldaBatchSpace, NeitherTheOrderOfABatchNorARotationChangesItsAnswers) {
  const EpisodeBatch batch = loud_episode(6, 2);
  const at::Tensor answers = logits_by(model_for(batch), batch).softmax(1);
  const at::Tensor order = at::randperm(kBatchQueries, at::kLong);
  EpisodeBatch ordered = batch;
  ordered.query = batch.query.index_select(1, order);
  EXPECT_LT(error_of(logits_by(model_for(ordered), ordered).softmax(1), answers.index_select(0, order)), 1e-3);
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({kBatchDims, kBatchDims})));
  EpisodeBatch turned = batch;
  turned.support = at::matmul(batch.support, turn);
  turned.query = at::matmul(batch.query, turn);
  EXPECT_LT(error_of(logits_by(model_for(turned), turned).softmax(1), answers), 1e-3);
}

TEST(PldaBatchSpace, QueriesBesideAPoolDoNotChangeOneAnother) {
  EpisodeBatch batch = loud_episode(7, 2);
  batch.unlabelled = loud_episode(8).query;
  const PldaModel model = model_for(batch);
  const at::Tensor all = logits_by(model, batch);
  batch.query = batch.query.narrow(1, 10, 7);
  EXPECT_LT(error_of(logits_by(model, batch).softmax(1), all.narrow(0, 10, 7).softmax(1)), 1e-4);
}

/// Returns "plda" with a pool of unlabelled images.
std::unique_ptr<Method> plda_with(const at::Tensor& pool) {
  auto method = make_method("plda");
  MethodState state = method->state();
  state.tensors.emplace_back("unlabelled", array_of(pool.contiguous()));
  method->load(state);
  return method;
}

/// Returns its answer adapted to the supports, with the pool's part in the supports.
at::Tensor answer_with_pool(const EpisodeBatch& batch, const at::Tensor& pool) {
  const FloatMatrix support = float_matrix_of(batch.support);
  const std::vector<int64_t> labels = support_labels(batch.support.size(2));
  const AdaptedMethod made = plda_with(pool)->adapted(support, labels, kBatchClasses);
  const PreparedMethod prepared = made.method->prepare({});
  const TaskImages images = with_soft_supports(TaskImages::of(support, labels, kBatchClasses), made.unlabelled);
  const FloatMatrix queries = float_matrix_of(batch.query);
  return testing::tensors_of(answer_of(prepared, images.mapped(prepared.space.get()), queries)).logits;
}

TEST(PldaBatchSpace, AnEpisodeAndATaskUseThePoolAsARecognizerDoes) {
  const EpisodeBatch both = loud_episode(5, 3, 600);
  EpisodeBatch batch = both;
  batch.query = both.query.narrow(1, 300, 300);
  const at::Tensor pool = both.query.narrow(1, 0, 300).squeeze(0);
  const at::Tensor expected = answer_with_pool(batch, pool);
  EXPECT_LT(error_of(testing::scores_of(*plda_with(pool), {}, batch).logits.squeeze(0), expected), 1e-4);
  const TaskClassifier task(
      plda_with(pool), {array_of(batch.support.view({-1, kBatchDims})), Array::of(support_labels(3)), kBatchClasses});
  EXPECT_LT(error_of(testing::tensors_of(task.score(array_of(batch.query.squeeze(0).contiguous()))).logits, expected),
            1e-4);
}

TEST(PldaBatchSpace, SinglePhotosGainFromUnlabelledOnes) {
  double gain = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const EpisodeBatch both = loud_episode(seed, 3, 600);
    EpisodeBatch batch = both;
    batch.query = both.query.narrow(1, 300, 300);
    gain += share_right(answer_with_pool(batch, both.query.narrow(1, 0, 300).squeeze(0))) / 4;
    gain -= share_right(testing::scores_of(*make_method("plda"), {}, batch).logits.squeeze(0)) / 4;
  }
  EXPECT_GT(gain, 0.05);
}

TEST(PldaBatchSpace, FewUnlabelledPhotosLeaveTheDimensionsTheyHaveNoPartInAlone) {
  const EpisodeBatch batch = loud_episode(11, 3);
  PldaModel model = model_for(batch);
  const PldaSpace before = model.space;
  model.unlabelled = array_of(batch.query.squeeze(0).narrow(0, 0, 20));
  const SoftSupports soft = follow_unlabelled(model, matrix_of(batch.support), support_labels(3), kBatchClasses);
  EXPECT_FALSE(model.unlabelled.defined());
  EXPECT_EQ(soft.weights.rows(), 20);
  const double chances = static_cast<double>(soft.weights.sum()) * std::sqrt(3.0);
  EXPECT_GT(chances, 1);
  EXPECT_LT(chances, 20);
  // S of those dimensions is reduced by the degrees that the images add: f has a longer unit, and between grows as
  // much.
  const double growth = 1 + 0.25 * chances / model.vb.degrees;
  EXPECT_NEAR(model.space.between.maxCoeff() / before.between.maxCoeff(), growth, 1e-6);
  // Distances between images grow by no more than that where the images are unchanged.
  const at::Tensor f = transformed(before, batch.support), g = transformed(model.space, batch.support);
  EXPECT_LT((g.square().sum() / f.square().sum()).item<double>(), growth + 1e-6);
}

TEST(PldaBatchSpace, PhotosOfOtherClassesCountLess) {
  for (const int64_t shots : {1, 5}) {
    const EpisodeBatch batch = loud_episode(17, shots);
    PldaModel model = model_for(batch);
    model.unlabelled = array_of(at::cat({batch.query, loud_episode(18).query}, 1).squeeze(0));
    const SoftSupports soft = follow_unlabelled(model, matrix_of(batch.support), support_labels(shots), kBatchClasses);
    const double own = soft.weights.topRows(kBatchQueries).cast<double>().sum();
    const double other = soft.weights.bottomRows(kBatchQueries).cast<double>().sum();
    // One labelled image per class does not tell them apart: all count.
    if (shots == 1) {
      EXPECT_NEAR(own, other, 1e-3);
    } else if (shots == 5) {
      EXPECT_GT(own, 1.1 * other);
    }
  }
}

TEST(PldaBatchSpace, PhotosThatAreLabelledTooCountOnce) {
  const EpisodeBatch batch = loud_episode(13, 3);
  const at::Tensor features = batch.support.view({-1, kBatchDims});
  const DoubleMatrix images = matrix_of(features);
  PldaModel apart = model_for(batch), among = apart;
  apart.unlabelled = array_of(batch.query.squeeze(0));
  among.unlabelled = array_of(at::cat({features.to(at::kHalf).to(at::kFloat), batch.query.squeeze(0)}));
  follow_unlabelled(apart, images, support_labels(3), kBatchClasses);
  EXPECT_EQ(follow_unlabelled(among, images, support_labels(3), kBatchClasses).features.rows(), kBatchQueries);
  EXPECT_EQ(among.space.projection, apart.space.projection);
}

TEST(PldaBatchSpace, UnlabelledPhotosOfAnotherEncoderAreRefused) {
  const EpisodeBatch batch = loud_episode(12, 2);
  PldaModel model = model_for(batch);
  model.unlabelled = array_of(at::randn({4, kBatchDims + 1}));
  try {
    follow_unlabelled(model, matrix_of(batch.support), support_labels(2), kBatchClasses);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unlabelled images have features of 121 dimensions, labelled ones of 120"));
  }
}

TEST(BoundedScale, FallsWhereScoresOfTheOtherClassesLieFarApart) {
  DoubleMatrix scores(2, 3);
  scores << 10, 0, 4, 1, 5, -3;  // of the others: 0 and 4, 1 and -3
  EXPECT_NEAR(bounded_scale(scores, 2), 2.5 / std::sqrt(8.0), 1e-12);
  EXPECT_EQ(bounded_scale(scores, 0.5), 0.5) << "it never rises";
  EXPECT_EQ(bounded_scale(scores.leftCols(2), 2), 2) << "one other class has no spread";
}

TEST(MatchingBatchScale, MakesTheBatchAsSureAsItIsExpectedToBeRight) {
  DoubleMatrix single(2, 2), scores(2, 2);
  single << 2, 0, 0, 2;
  scores << 30, 0, 0, 30;
  const double remaining = error_of_batch(1 / (1 + std::exp(2 * 0.5)), 1, 1);
  EXPECT_NEAR(matching_batch_scale(scores, {single, 0.5, 1}), std::log(1 / remaining - 1) / 30, 1e-6);
}

TEST(MatchingBatchScale, FollowsTheUnitOfTheScores) {
  const DoubleMatrix single = DoubleMatrix::Random(40, 5), scores = 7 * DoubleMatrix::Random(40, 5);
  const double scale = matching_batch_scale(scores, {single, 2, 3});
  EXPECT_NEAR(matching_batch_scale(10 * scores, {single, 2, 3}) * 10 / scale, 1, 1e-4);
}

TEST(MatchingBatchScale, GivenSharesMakeSingleAnswersSurer) {
  DoubleMatrix single = DoubleMatrix::Zero(1, 2), scores(1, 2);
  scores << 4, 0;
  const Eigen::VectorXf shares = Eigen::Vector2f(0.9F, 0.1F).array().log();
  const double remaining = error_of_batch(0.1, 1, 0.5);
  EXPECT_NEAR(matching_batch_scale(scores, {single, 1, 1, shares}), std::log(1 / remaining - 1) / 4, 1e-5);
}

TEST(MatchingBatchScale, OneClassOrNoImageLeavesThatOfSingleAnswers) {
  const DoubleMatrix none(0, 3), one = DoubleMatrix::Ones(4, 1);
  EXPECT_EQ(matching_batch_scale(none, {none, 0.3, 1}), 0.3);
  EXPECT_EQ(matching_batch_scale(one, {one, 0.3, 1}), 0.3);
}

TEST(ErrorOfBatch, FallsWithUnlabelledAndGrowsWithLabelledImages) {
  EXPECT_EQ(error_of_batch(0.2, 1, 0), 0.2) << "no images, no gain";
  EXPECT_LT(error_of_batch(0.2, 1, 10), error_of_batch(0.2, 1, 1));
  EXPECT_LT(error_of_batch(0.2, 1, 10), error_of_batch(0.2, 5, 10));
  EXPECT_EQ(error_of_batch(1, 1, 10), 1) << "wrong answers are not corrected by one another";
}

}  // namespace
}  // namespace protocom
