#include "fewshot/plda/detail/adapting_run.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/scorer_group.h"
#include "heads/batch_method.h"
#include "support/adapted_space.h"
#include "support/gathered.h"
#include "support/golden.h"
#include "support/labelled.h"
#include "support/scorer.h"

namespace protocom {
namespace {

using testing::error_of;

/// Returns a space of other classes, in `d` dimensions that differ in the variance of classes and images.
PldaModel model_of_others(int64_t d, bool root, int64_t classes = 12) {
  at::manual_seed(9);
  const at::Tensor stretch = at::rand({d}) + 0.2;
  const at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(20);
  at::Tensor features =
      at::randn({classes, d}).index_select(0, labels) * stretch.flip(0) + stretch * at::randn({classes * 20, d});
  if (root) features.abs_();
  const auto method = make_method("plda");
  FitInputs inputs;
  inputs.base = testing::labelled(features, labels);
  method->fit(inputs);
  return plda_model_of(method->as_space()->state());
}

/// Returns episodes of classes whose images vary in other ways than those of the space.
EpisodeBatch foreign_episode(int64_t classes, int64_t shots, int64_t d, uint64_t seed = 4) {
  at::manual_seed(seed);
  const at::Tensor means = at::randn({classes, 1, d}), stretch = at::rand({d}) + 0.2;
  EpisodeBatch batch;
  batch.support = (means + stretch * at::randn({classes, shots, d})).unsqueeze(0);
  batch.query = (means + stretch * at::randn({classes, 12, d})).view({1, classes * 12, d});
  return batch;
}

/// Gives class c as many images as `counts` says.
EpisodeBatch with_counts(EpisodeBatch batch, const std::vector<int64_t>& counts) {
  batch.support_mask = at::zeros({1, batch.support.size(1), batch.support.size(2)});
  for (size_t c = 0; c < counts.size(); ++c)
    batch.support_mask[0][static_cast<int64_t>(c)].slice(0, 0, counts[c]).fill_(1);
  return batch;
}

/// Returns the model of an unfitted method.
PldaModel model_without_space() { return plda_model_of(make_method("plda")->state()); }

testing::TensorScores answer(const EpisodeBatch& batch, const PldaModel& model, const char* text = "plda") {
  const auto method = make_method(text);
  method->load(state_of(model, {}));
  return testing::scores_of(*method, {}, batch);
}

void expect_same_answers(const EpisodeBatch& batch, const PldaModel& model, const char* text = "plda") {
  const testing::TensorScores scores = answer(batch, model, text);
  const testing::TensorScores expected = testing::in_adapted_space(batch, model, text);
  EXPECT_LT(error_of(scores.logits, expected.logits.to(at::kDouble)), 2e-5);
  EXPECT_LT(error_of(scores.unseen, expected.unseen.to(at::kDouble)), 2e-5);
}

/// Gives classes `shots`, `shots` - 1, ... images, at least one.
EpisodeBatch ragged(EpisodeBatch batch) {
  batch.support_mask = at::ones({1, batch.support.size(1), batch.support.size(2)});
  for (int64_t c = 0; c < batch.support.size(1); ++c) {
    const int64_t missing = std::min(c, batch.support.size(2) - 1);
    batch.support_mask[0][c].slice(0, batch.support.size(2) - missing).fill_(0);
  }
  batch.support = batch.support * batch.support_mask.unsqueeze(-1);
  return batch;
}

/// Responsibilities of variational EM amplify rounding.
void expect_same_batch(const EpisodeBatch& batch, const PldaModel& model) {
  const testing::TensorScores scores = answer(batch, model, "plda-vb");
  const testing::TensorScores expected = testing::in_adapted_space(batch, model, "plda-vb");
  EXPECT_LT(error_of(scores.logits.softmax(-1), expected.logits.softmax(-1).to(at::kDouble)), 1e-3);
}

EpisodeBatch positive(EpisodeBatch batch) {
  batch.support.abs_();
  batch.query.abs_();
  return batch;
}

TEST(PldaAdaptingRun, AnswersAsTheSpaceOfTheLabelledImagesDoes) {
  const PldaModel model = model_without_space();
  for (const int64_t shots : {1, 2, 3, 5, 9}) {
    SCOPED_TRACE(shots);
    expect_same_answers(foreign_episode(5, shots, 64), model);
    EpisodeBatch roots = positive(foreign_episode(4, shots, 33));
    expect_same_answers(roots, model);
    roots.query[0][0][0] = -1;
    expect_same_answers(roots, model);
  }
}

TEST(PldaAdaptingRun, TakesMoreImagesThanDimensionsOneClassAndUnequalShotsWithoutASpace) {
  const PldaModel model = model_without_space();
  expect_same_answers(foreign_episode(4, 8, 10), model);
  expect_same_answers(foreign_episode(1, 5, 40), model);
  expect_same_answers(ragged(foreign_episode(6, 5, 50)), model);
  expect_same_answers(ragged(foreign_episode(3, 2, 50)), model);
  expect_same_answers(foreign_episode(24, 1, 900), model);
  expect_same_answers(foreign_episode(65, 4, 20), model);
}

TEST(PldaAdaptingRun, AnswersAsTheAdaptedSpaceDoes) {
  const PldaModel plain = model_of_others(37, false), roots = model_of_others(64, true);
  ASSERT_TRUE(roots.space.root);
  for (const int64_t shots : {1, 2, 3, 5, 7}) {
    SCOPED_TRACE(shots);
    expect_same_answers(foreign_episode(5, shots, 37), plain);
    expect_same_answers(positive(foreign_episode(4, shots, 64)), roots);
    expect_same_answers(foreign_episode(4, shots, 64), roots);
  }
}

TEST(PldaAdaptingRun, AnswersTheSameWhereTheClassesOfTheSpaceDifferInAllDimensions) {
  const PldaModel model = model_of_others(24, false, 40);
  ASSERT_EQ(model.space.leading, 24);
  for (const int64_t shots : {1, 2, 4}) {
    SCOPED_TRACE(shots);
    expect_same_answers(foreign_episode(5, shots, 24), model);
  }
}

TEST(PldaAdaptingRun, ADamagedSpaceIsAnError) {
  PldaModel model = model_of_others(24, false);
  model.space.projection *= 1e300;
  const EpisodeBatch episode = foreign_episode(5, 3, 24);
  EXPECT_THROW(static_cast<void>(answer(episode, model)), Error);
}

TEST(PldaAdaptingRun, TakesAsManyImagesAsDimensionsOfAFittedSpace) {
  const PldaModel plain = model_of_others(20, false), roots = model_of_others(20, true);
  expect_same_answers(foreign_episode(10, 3, 20), plain);
  expect_same_answers(foreign_episode(6, 12, 20), plain);
  expect_same_answers(positive(foreign_episode(6, 12, 20)), roots);
}

TEST(PldaAdaptingRun, TakesOneClassAndUnequalShots) {
  const PldaModel model = model_of_others(48, false);
  expect_same_answers(foreign_episode(1, 5, 48), model);
  for (const std::vector<int64_t>& counts : std::vector<std::vector<int64_t>>{
           {6, 1, 4, 2, 1}, {6, 6, 6, 6, 5}, {1, 2, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 6}}) {
    SCOPED_TRACE(::testing::PrintToString(counts));
    expect_same_answers(with_counts(foreign_episode(5, 6, 48), counts), model);
  }
}

TEST(PldaAdaptingRun, TakesNoQueries) {
  EpisodeBatch batch = foreign_episode(3, 2, 16);
  batch.query = batch.query.narrow(1, 0, 0);
  for (const char* text : {"plda", "plda-vb"}) {
    EXPECT_EQ(answer(batch, model_of_others(16, false), text).logits.sizes(), at::IntArrayRef({1, 0, 3})) << text;
    EXPECT_EQ(answer(batch, model_without_space(), text).logits.sizes(), at::IntArrayRef({1, 0, 3})) << text;
  }
}

TEST(PldaAdaptingRun, ABatchIsAnsweredAsInTheAdaptedSpace) {
  for (const int64_t shots : {1, 3}) {
    SCOPED_TRACE(shots);
    for (const PldaModel& model : {model_without_space(), model_of_others(64, false)}) {
      EpisodeBatch batch = foreign_episode(4, shots, 64);
      expect_same_batch(batch, model);
      batch.unlabelled = foreign_episode(4, shots, 64).query.narrow(1, 3, 30);
      expect_same_batch(batch, model);
    }
  }
}

TEST(PldaAdaptingRun, SharesThatAreToldCount) {
  EpisodeBatch batch = foreign_episode(3, 2, 4);  // in more dimensions the images leave no doubt
  PldaModel model = model_without_space();
  model.vb.plausible = 0;  // else the labelled images alone, which are certain here, leave no influence to shares
  const auto probability_of_first = [&](const std::vector<float>& shares) {
    batch.shares = at::tensor(shares).unsqueeze(0);
    const testing::TensorScores scores = answer(batch, model, "plda-vb:proportions=given");
    return scores.logits.softmax(-1).select(-1, 0).mean().item<double>();
  };
  EXPECT_GT(probability_of_first({0.9F, 0.05F, 0.05F}), probability_of_first({0.05F, 0.05F, 0.9F}) + 0.01);
  batch.shares = at::Tensor();
  EXPECT_THROW(answer(batch, model, "plda-vb:proportions=given"), Error);
}

TEST(PldaAdaptingRun, TakesDegreesOtherThanTheUsual) {
  PldaModel model = model_of_others(40, false);
  for (const double degrees : {3.0, 30.0, 300.0, 30000.0}) {
    SCOPED_TRACE(degrees);
    model.adaptation.degrees = degrees;
    expect_same_answers(foreign_episode(5, 5, 40, 7), model);
  }
}

TEST(PldaAdaptingRun, TakesThatScaleAndIsAsSureOfTheClassesAsItsOwn) {
  const EpisodeBatch batch = foreign_episode(5, 3, 40);
  for (const PldaModel& model : {model_without_space(), model_of_others(40, false)}) {
    const testing::TensorScores own = answer(batch, model), given = answer(batch, model, "plda:scale=1");
    const at::Tensor ratio = own.logits / given.logits;
    EXPECT_LT((ratio - ratio.flatten()[0]).abs().max().item<double>(), 1e-5);
    const auto odds = [](const testing::TensorScores& scores) { return scores.logits.logsumexp(-1) - scores.unseen; };
    EXPECT_LT((odds(own) - odds(given)).abs().max().item<double>(), 2e-3);
  }
}

TEST(PldaAdaptingRun, AnswersRowsOfATableAsFeatures) {
  const PldaModel model = model_of_others(32, true);
  Methods methods;
  for (const char* text : {"plda", "plda:scale=1", "plda-vb"}) {
    auto method = make_method(text);
    method->load(state_of(model, {}));
    methods.push_back(std::move(method));
  }
  const at::Tensor table = at::rand({40, 32});
  RowBatch rows{3, 3, 6, 0, {0, 1, 2, 0, 1, 2}, {}, {}, {}, {0, 0}};
  for (int64_t i = 0; i < 18; ++i) rows.support.push_back(i);
  for (int64_t i = 0; i < 12; ++i) rows.query.push_back(18 + i);
  rows.support[8] = -1;
  table[10].copy_(table[9]);
  const auto scores = ScorerGroup(methods, {}, array_of(table)).score(rows);
  for (size_t m = 0; m < methods.size(); ++m) {
    const testing::Scorer scorer(*methods[m], {});
    const testing::TensorScores expected = scorer.score(testing::gathered(table, rows));
    EXPECT_LT(error_of(tensor_of(scores[m].logits), expected.logits.to(at::kDouble)), 2e-5);
    EXPECT_LT(error_of(tensor_of(scores[m].unseen), expected.unseen.to(at::kDouble)), 2e-5);
  }
}

TEST(PldaAdaptingRun, ACopyOfAnImageSaysNothingOfTheSpaceButCountsForItsClass) {
  for (const PldaModel& model : {model_without_space(), model_of_others(20, false)}) {
    SCOPED_TRACE(model.adaptation.isotropic ? "cannot be used on other classes" : "a fitted space");
    EpisodeBatch copies = foreign_episode(3, 3, 20);
    copies.support[0][1][2].copy_(copies.support[0][1][0]);
    expect_same_answers(copies, model);
  }
}

TEST(PldaAdaptingRun, FeaturesThatAreNotFiniteAreAnError) {
  for (const PldaModel& model : {model_without_space(), model_of_others(20, false)}) {
    EpisodeBatch endless = foreign_episode(3, 3, 20);
    endless.query[0][0][0] = std::numeric_limits<float>::infinity();
    for (const char* text : {"plda", "plda-vb"}) EXPECT_THROW(answer(endless, model, text), Error) << text;
  }
}

TEST(PldaAdaptingRun, AnswersOneImageOfOneClassAndPrintsNothing) {
  const PldaModel others = model_of_others(20, false);
  ::testing::internal::CaptureStdout();  // BLAS warns there about products without dimensions
  for (const PldaModel& model : {model_without_space(), others}) {
    expect_same_answers(foreign_episode(1, 1, 20), model);
    expect_same_batch(foreign_episode(1, 1, 20), model);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(PldaAdaptingRun, ImagesThatAreAllAlikeMakeNoClassLikelier) {
  EpisodeBatch same = foreign_episode(3, 1, 20);
  same.support.fill_(1);
  same.query.fill_(1);
  for (const PldaModel& model : {model_without_space(), model_of_others(20, false)}) {
    const testing::TensorScores equal = answer(same, model);
    EXPECT_TRUE(equal.logits.isfinite().all().item<bool>());
    EXPECT_LT((equal.logits - equal.logits.slice(-1, 0, 1)).abs().max().item<double>(), 1e-6);
  }
}

TEST(PldaAdaptingRun, RowsAreOfTheSpace) {
  const PldaModel model = model_of_others(24, true);
  const ForeignRows rows(model.space);
  at::manual_seed(3);
  EXPECT_EQ(mapped_tensor(rows, at::randn({5, 24})).size(1), rows.width());
  EXPECT_TRUE(rows.same_as(ForeignRows(model.space)));
  EXPECT_FALSE(rows.same_as(ForeignRows(model_of_others(24, false).space)));
  EXPECT_THROW(mapped_tensor(rows, at::randn({5, 23})), Error);
}

}  // namespace
}  // namespace protocom
