#include "fewshot/plda/detail/foreign_span.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/scorer_group.h"
#include "support/adapted_space.h"
#include "support/golden.h"

namespace protocom {
namespace {

using testing::error_of;

/// A space of other classes, in `d` dimensions that differ in how much classes and images vary.
PldaModel model_of_others(int64_t d, bool root, int64_t classes = 12) {
  at::manual_seed(9);
  const at::Tensor stretch = at::rand({d}) + 0.2;
  const at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(20);
  at::Tensor features =
      at::randn({classes, d}).index_select(0, labels) * stretch.flip(0) + stretch * at::randn({classes * 20, d});
  if (root) features.abs_();
  const auto method = make_method("plda");
  FitInputs inputs;
  inputs.base = {features, labels};
  method->fit(inputs);
  return plda_model_of(method->as_space()->state());
}

/// Episodes of classes whose images differ in other ways than those of the space.
EpisodeBatch foreign_episode(int64_t classes, int64_t shots, int64_t d, uint64_t seed = 4) {
  at::manual_seed(seed);
  const at::Tensor means = at::randn({classes, 1, d}), stretch = at::rand({d}) + 0.2;
  EpisodeBatch batch;
  batch.support = (means + stretch * at::randn({classes, shots, d})).unsqueeze(0);
  batch.query = (means + stretch * at::randn({classes, 12, d})).view({1, classes * 12, d});
  return batch;
}

/// Class c has as many images as `counts` says.
EpisodeBatch with_counts(EpisodeBatch batch, const std::vector<int64_t>& counts) {
  batch.support_mask = at::zeros({1, batch.support.size(1), batch.support.size(2)});
  for (size_t c = 0; c < counts.size(); ++c)
    batch.support_mask[0][static_cast<int64_t>(c)].slice(0, 0, counts[c]).fill_(1);
  return batch;
}

std::optional<EpisodeScores> answer(const EpisodeBatch& batch, const PldaModel& model, double scale = 0) {
  return answer_in_foreign_space(batch, ForeignRows(model.space), model, scale);
}

void expect_same_answers(const EpisodeBatch& batch, const PldaModel& model) {
  const auto scores = answer(batch, model);
  ASSERT_TRUE(scores);
  const EpisodeScores expected = testing::in_adapted_space(batch, model);
  EXPECT_LT(error_of(scores->logits, expected.logits.to(at::kDouble)), 2e-5);
  EXPECT_LT(error_of(scores->unseen, expected.unseen.to(at::kDouble)), 2e-5);
}

EpisodeBatch positive(EpisodeBatch batch) {
  batch.support.abs_();
  batch.query.abs_();
  return batch;
}

TEST(PldaForeignSpan, AnswersAsTheAdaptedSpaceDoes) {
  const PldaModel plain = model_of_others(37, false), roots = model_of_others(64, true);
  ASSERT_TRUE(roots.space.root);
  for (const int64_t shots : {1, 2, 3, 5, 7}) {
    SCOPED_TRACE(shots);
    expect_same_answers(foreign_episode(5, shots, 37), plain);
    expect_same_answers(positive(foreign_episode(4, shots, 64)), roots);
    expect_same_answers(foreign_episode(4, shots, 64), roots);
  }
}

TEST(PldaForeignSpan, AnswersTheSameWhereTheClassesOfTheSpaceDifferInAllDimensions) {
  const PldaModel model = model_of_others(24, false, 40);
  ASSERT_EQ(model.space.leading, 24);
  for (const int64_t shots : {1, 2, 4}) {
    SCOPED_TRACE(shots);
    expect_same_answers(foreign_episode(5, shots, 24), model);
  }
}

TEST(PldaForeignSpan, ADamagedSpaceIsAnError) {
  PldaModel model = model_of_others(24, false);
  model.space.between = model.space.between + 1e300;
  const EpisodeBatch episode = foreign_episode(5, 3, 24);
  EXPECT_THROW(static_cast<void>(answer(episode, model)), Error);
}

TEST(PldaForeignSpan, TakesOneClassAndUnequalShots) {
  const PldaModel model = model_of_others(48, false);
  expect_same_answers(foreign_episode(1, 5, 48), model);
  for (const std::vector<int64_t>& counts : std::vector<std::vector<int64_t>>{
           {6, 1, 4, 2, 1}, {6, 6, 6, 6, 5}, {1, 2, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 6}}) {
    SCOPED_TRACE(::testing::PrintToString(counts));
    expect_same_answers(with_counts(foreign_episode(5, 6, 48), counts), model);
  }
}

TEST(PldaForeignSpan, TakesNoQueries) {
  EpisodeBatch batch = foreign_episode(3, 2, 16);
  batch.query = batch.query.narrow(1, 0, 0);
  EXPECT_EQ(answer(batch, model_of_others(16, false))->logits.sizes(), at::IntArrayRef({1, 0, 3}));
}

TEST(PldaForeignSpan, TakesDegreesOtherThanTheUsual) {
  PldaModel model = model_of_others(40, false);
  for (const double degrees : {3.0, 30.0, 300.0, 30000.0}) {
    SCOPED_TRACE(degrees);
    model.adaptation.degrees = degrees;
    expect_same_answers(foreign_episode(5, 5, 40, 7), model);
  }
}

TEST(PldaForeignSpan, TakesThatScaleAndIsAsSureOfTheClassesAsItsOwn) {
  const PldaModel model = model_of_others(40, false);
  const EpisodeBatch batch = foreign_episode(5, 3, 40);
  const auto own = answer(batch, model), given = answer(batch, model, 1);
  const at::Tensor ratio = own->logits / given->logits;
  EXPECT_LT((ratio - ratio.flatten()[0]).abs().max().item<double>(), 1e-5);
  const auto odds = [](const EpisodeScores& scores) { return scores.logits.logsumexp(-1) - scores.unseen; };
  EXPECT_LT((odds(*own) - odds(*given)).abs().max().item<double>(), 2e-3);
}

/// The method itself, of features and of rows of a table, where a copy of an image is left to the space.
TEST(PldaForeignSpan, IsWhatTheMethodAnswersBy) {
  const PldaModel model = model_of_others(32, true);
  Methods methods;
  for (const char* text : {"plda", "plda:scale=1"}) {
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
  const auto scores = ScorerGroup(methods, {}, table).score(rows);
  for (size_t m = 0; m < methods.size(); ++m) {
    const auto scorer = methods[m]->prepare({});
    const EpisodeScores expected = scorer->score(gather(table, rows));
    EXPECT_LT(error_of(scores[m].logits, expected.logits.to(at::kDouble)), 2e-5);
    EXPECT_LT(error_of(scores[m].unseen, expected.unseen.to(at::kDouble)), 2e-5);
  }
  EXPECT_TRUE(answer(gather(table, part_of(rows, 0, 1)), model));
  const EpisodeBatch copies = gather(table, part_of(rows, 1, 2));
  EXPECT_FALSE(answer(copies, model));
  const EpisodeScores expected = testing::in_adapted_space(copies, model);
  EXPECT_LT(error_of(scores[0].logits[1].unsqueeze(0), expected.logits.to(at::kDouble)), 2e-5);
}

TEST(PldaForeignSpan, LeavesToTheSpaceWhatItCannotTellApart) {
  const PldaModel model = model_of_others(20, false);
  EXPECT_TRUE(answer(foreign_episode(6, 4, 20), model));
  EXPECT_FALSE(answer(foreign_episode(10, 3, 20), model));  // a space of their own may be better
  EpisodeBatch in_part = with_counts(foreign_episode(3, 3, 20), {3, 3, 3});
  in_part.support_mask[0][0][0] = 0.5;
  EXPECT_FALSE(answer(in_part, model));
  EpisodeBatch endless = foreign_episode(3, 3, 20);
  endless.query[0][0][0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(answer(endless, model));
}

TEST(PldaForeignSpan, RowsAreOfTheSpace) {
  const PldaModel model = model_of_others(24, true);
  const ForeignRows rows(model.space);
  at::manual_seed(3);
  const at::Tensor features = at::randn({5, 24});
  EXPECT_EQ(rows.map(features).size(1), rows.width());
  EXPECT_TRUE(rows.same_as(ForeignRows(model.space)));
  EXPECT_FALSE(rows.same_as(ForeignRows(model_of_others(24, false).space)));
  EXPECT_THROW(rows.map(at::randn({5, 23})), Error);
}

}  // namespace
}  // namespace protocom
