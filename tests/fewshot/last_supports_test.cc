#include "fewshot/last_supports.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace protocom {
namespace {

class LastSupportsTest : public ::testing::Test {
 protected:
  static EpisodeBatch batch(int64_t episodes = 1) {
    EpisodeBatch made;
    made.support = at::rand({episodes, 2, 3, 4});
    made.support_mask = at::ones({episodes, 2, 3});
    made.query = at::rand({episodes, 1, 4});
    return made;
  }

  /// How often something had to be made until now, after asking for the batch.
  int made(const EpisodeBatch& of) {
    const double sum = of.support.sum().item<double>();
    const auto value = last_.of(of, [&] { return ++count_, sum; });
    EXPECT_EQ(*value, sum) << "what belongs to these supports";
    return count_;
  }

  at::NoGradGuard no_grad_;
  LastSupports<double> last_;
  int count_ = 0;
};

TEST_F(LastSupportsTest, KnowsTheSameTensorsAgainWhateverTheQuery) {
  EpisodeBatch asked = batch();
  EXPECT_EQ(made(asked), 1);
  asked.query = at::rand({1, 5, 4});
  EXPECT_EQ(made(asked), 1);
  EpisodeBatch equal = asked;
  equal.support = asked.support.clone();
  EXPECT_EQ(made(equal), 2);
}

TEST_F(LastSupportsTest, NoticesWhatWasWrittenToATensor) {
  const EpisodeBatch asked = batch();
  EXPECT_EQ(made(asked), 1);
  asked.support.add_(1);
  EXPECT_EQ(made(asked), 2);
  EXPECT_EQ(made(asked), 2);
  asked.support_mask.zero_();
  EXPECT_EQ(made(asked), 3);
}

TEST_F(LastSupportsTest, RemembersNeitherSeveralEpisodesNorGradients) {
  const EpisodeBatch several = batch(2);
  EXPECT_EQ(made(several), 1);
  EXPECT_EQ(made(several), 2);
  const at::AutoGradMode recorded(true);
  const EpisodeBatch one = batch();
  EXPECT_EQ(made(one), 3);
  EXPECT_EQ(made(one), 4);
}

}  // namespace
}  // namespace protocom
