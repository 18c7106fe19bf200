#include "fewshot/plda/detail/own_span.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/state.h"
#include "support/adapted_space.h"
#include "support/golden.h"

namespace protocom {
namespace {

using testing::error_of;

PldaModel model_without_space() { return plda_model_of(make_method("plda")->state()); }

EpisodeBatch span_episode(int64_t classes, int64_t shots, int64_t d, uint64_t seed = 4) {
  at::manual_seed(seed);
  const at::Tensor means = at::randn({classes, 1, d}), stretch = at::rand({d}) + 0.2;
  EpisodeBatch batch;
  batch.support = (means + stretch * at::randn({classes, shots, d})).unsqueeze(0);
  batch.query = (means + stretch * at::randn({classes, 6, d})).view({1, classes * 6, d});
  return batch;
}

/// Classes of `shots`, `shots` - 1, ... images, at least one.
EpisodeBatch ragged(EpisodeBatch batch) {
  batch.support_mask = at::ones({1, batch.support.size(1), batch.support.size(2)});
  for (int64_t c = 0; c < batch.support.size(1); ++c) {
    const int64_t missing = std::min(c, batch.support.size(2) - 1);
    batch.support_mask[0][c].slice(0, batch.support.size(2) - missing).fill_(0);
  }
  batch.support = batch.support * batch.support_mask.unsqueeze(-1);
  return batch;
}

void expect_same_answers(const EpisodeBatch& batch) {
  const auto scores = answer_in_own_span(batch, model_without_space().adaptation, 0);
  ASSERT_TRUE(scores);
  const EpisodeScores expected = testing::in_adapted_space(batch, model_without_space());
  EXPECT_LT(error_of(scores->logits.to(at::kDouble), expected.logits.to(at::kDouble)), 2e-5);
  EXPECT_LT(error_of(scores->unseen.to(at::kDouble), expected.unseen.to(at::kDouble)), 2e-5);
}

TEST(PldaOwnSpan, AnswersAsTheSpaceOfTheLabelledImagesDoes) {
  for (const int64_t shots : {1, 2, 3, 5, 9}) {
    SCOPED_TRACE(shots);
    expect_same_answers(span_episode(5, shots, 64));
    EpisodeBatch positive = span_episode(4, shots, 33);
    positive.support.abs_();
    positive.query.abs_();
    expect_same_answers(positive);
    positive.query[0][0][0] = -1;
    expect_same_answers(positive);
  }
}

TEST(PldaOwnSpan, TakesMoreImagesThanDimensionsOneClassAndUnequalShots) {
  expect_same_answers(span_episode(4, 8, 10));
  expect_same_answers(span_episode(1, 5, 40));
  expect_same_answers(ragged(span_episode(6, 5, 50)));
  expect_same_answers(ragged(span_episode(3, 2, 50)));
  expect_same_answers(span_episode(24, 1, 900));
}

TEST(PldaOwnSpan, TakesNoQueries) {
  EpisodeBatch batch = span_episode(3, 2, 16);
  batch.query = batch.query.narrow(1, 0, 0);
  const auto scores = answer_in_own_span(batch, model_without_space().adaptation, 0);
  EXPECT_EQ(scores->logits.sizes(), at::IntArrayRef({1, 0, 3}));
}

TEST(PldaOwnSpan, TakesThatScaleAndIsAsSureOfTheClassesAsItsOwn) {
  const EpisodeBatch batch = span_episode(5, 3, 40);
  const PldaAdaptation adaptation = model_without_space().adaptation;
  const auto own = answer_in_own_span(batch, adaptation, 0), given = answer_in_own_span(batch, adaptation, 1);
  const at::Tensor ratio = own->logits / given->logits;
  EXPECT_LT((ratio - ratio.flatten()[0]).abs().max().item<double>(), 1e-5);
  const auto odds = [](const EpisodeScores& scores) { return scores.logits.logsumexp(-1) - scores.unseen; };
  EXPECT_LT((odds(*own) - odds(*given)).abs().max().item<double>(), 2e-3);
}

TEST(PldaOwnSpan, LeavesToTheSpaceWhatItCannotTellApart) {
  const PldaAdaptation adaptation = model_without_space().adaptation;
  EpisodeBatch copies = span_episode(3, 3, 20);
  copies.support[0][1][2].copy_(copies.support[0][1][0]);
  EXPECT_FALSE(answer_in_own_span(copies, adaptation, 0));
  EXPECT_FALSE(answer_in_own_span(span_episode(65, 4, 20), adaptation, 0));
  EpisodeBatch in_part = ragged(span_episode(3, 3, 20));
  in_part.support_mask[0][0][0] = 0.5;
  EXPECT_FALSE(answer_in_own_span(in_part, adaptation, 0));
  EpisodeBatch endless = span_episode(3, 3, 20);
  endless.query[0][0][0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(answer_in_own_span(endless, adaptation, 0));
  EpisodeBatch same = span_episode(3, 1, 20);
  same.support.fill_(1);
  same.query.fill_(1);
  const auto equal = answer_in_own_span(same, adaptation, 0);
  ASSERT_TRUE(equal);
  EXPECT_TRUE(equal->logits.isfinite().all().item<bool>());
  EXPECT_LT((equal->logits - equal->logits.slice(-1, 0, 1)).abs().max().item<double>(), 1e-6) << "no class is likelier";
}

}  // namespace
}  // namespace protocom
