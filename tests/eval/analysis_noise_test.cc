#include "eval/analysis_noise.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "support/sweep_world.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using Noise = testing::Sweep;

at::Tensor noisy_of(const at::Tensor& association, double gamma, uint64_t seed) {
  return tensor_of(noisy_association(array_of(association), gamma, seed));
}

TEST(NoisyAssociation, OfNothingLeavesTheKnowledgeUnchanged) {
  const at::Tensor r = at::rand({7, 9}) * at::rand({7, 9}).lt(0.4).to(at::kFloat);
  EXPECT_TRUE(at::equal(noisy_of(r, 0.0, 3), r));
}

// Removes everything present and adds everything absent, with the mean of 0.5 and 1 as its weight.
TEST(NoisyAssociation, OfCertaintyTurnsTheKnowledgeRound) {
  const at::Tensor r = at::tensor({0.5F, 0.0F, 0.0F, 1.0F}).view({2, 2});
  const at::Tensor noisy = noisy_of(r, 1.0, 3);
  EXPECT_TRUE(at::equal(noisy, at::tensor({0.0F, 0.75F, 0.75F, 0.0F}).view({2, 2})));
  EXPECT_TRUE(at::equal(r, at::tensor({0.5F, 0.0F, 0.0F, 1.0F}).view({2, 2}))) << "the original was changed";
}

TEST(NoisyAssociation, FlipsTheShareOfEntriesThatItShould) {
  const at::Tensor r = at::rand({200, 100}).lt(0.3).to(at::kFloat);
  const double flipped = noisy_of(r, 0.2, 5).ne(r).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(flipped, 0.2, 4.0 * std::sqrt(0.2 * 0.8 / 20000.0));  // four standard deviations
  EXPECT_FALSE(at::equal(noisy_of(r, 0.2, 5), noisy_of(r, 0.2, 6)));
  EXPECT_TRUE(at::equal(noisy_of(r, 0.2, 5), noisy_of(r, 0.2, 5)));
}

TEST_F(Noise, LeavesTheMeanAloneAndStartsWithoutNoise) {
  NoiseOptions options;
  options.gammas = {0.0, 0.3};
  options.draws = 2;
  const auto points = accuracy_by_noise(inputs(), episodes_, options, Progress::none());
  const auto mean = points_of(points, "mean");
  EXPECT_DOUBLE_EQ(mean[0].accuracy.value, mean[1].accuracy.value);  // it knows nothing that could be wrong
  EXPECT_DOUBLE_EQ(mean[1].spread, 0.0);
  const auto completed = points_of(points, "completed");
  EXPECT_DOUBLE_EQ(completed[0].accuracy.value, estimate(scores_of("completed", episodes_.shape).accuracy).value);
  EXPECT_NE(completed[0].accuracy.value, completed[1].accuracy.value);
  EXPECT_NEAR(completed[1].change.value().value, completed[1].accuracy.value - completed[0].accuracy.value, 1e-9);
  EXPECT_GT(completed[1].change.value().ci95, 0.0);
  options.gammas = {1.5};
  EXPECT_THROW(accuracy_by_noise(inputs(), episodes_, options, Progress::none()), UsageError);
  options = {};
  options.draws = 0;
  EXPECT_THROW(accuracy_by_noise(inputs(), episodes_, options, Progress::none()), UsageError);
}

TEST_F(Noise, MovesEmbeddingsThatWereMadeOfTheAssociation) {
  NoiseOptions options;
  options.gammas = {0.0, 0.3};
  options.draws = 1;
  const auto told = points_of(accuracy_by_noise(inputs(), episodes_, options, Progress::none()), "completed");
  options.embedding_change = [](const Array& change) {
    return array_of(10 * tensor_of(change).sum(1, true).expand({-1, 8}));
  };
  const auto moved = points_of(accuracy_by_noise(inputs(), episodes_, options, Progress::none()), "completed");
  EXPECT_EQ(moved[0].accuracy.value, told[0].accuracy.value) << "nothing is wrong yet";
  EXPECT_NE(moved[1].accuracy.value, told[1].accuracy.value);
}

TEST_F(Noise, NeedsKnowledge) {
  const AnalysisInputs untold{{world_.features}, make_methods({"mean"}), "mean"};
  EXPECT_THROW(accuracy_by_noise(untold, episodes_, {}, Progress::none()), UsageError);
}

}  // namespace
}  // namespace protocom
