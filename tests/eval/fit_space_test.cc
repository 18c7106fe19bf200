#include "eval/fit_space.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eval/evaluate.h"
#include "support/message_of.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool has(const MethodState& state, const char* name) {
  return std::any_of(state.tensors.begin(), state.tensors.end(), [&](const auto& one) { return one.first == name; });
}

TEST(FitSpace, NamesNoClassAndFollowsPhotos) {
  const ToyWorld world = toy_world();
  const Array base = world.features.features.rows(0, 2400);
  const FittedMethod space = fit_space(base, 1, Progress::none());
  EXPECT_EQ(space.method->spec().name, "plda");
  EXPECT_EQ(space.feature_dim, world.features.dim());
  EXPECT_THAT(space.trained_on, IsEmpty());
  const MethodState state = space.method->state();
  EXPECT_TRUE(has(state, "adaptation.degrees"));
  EXPECT_TRUE(has(state, "projection"));
  EXPECT_FALSE(has(state, "unlabelled")) << "a collection of other classes is no pool";
  const MethodState again = space_of(space).method->state();
  ASSERT_EQ(again.tensors.size(), state.tensors.size());
  for (size_t i = 0; i < state.tensors.size(); ++i)
    EXPECT_TRUE(at::equal(tensor_of(again.tensors[i].second), tensor_of(state.tensors[i].second)))
        << state.tensors[i].first;
}

TEST(FitSpace, RefusesACollectionThatIsTooSmall) {
  EXPECT_THAT(message_of([] {
                fit_space(array_of(at::rand({30, 8})), 1, Progress::none());
              }),
              HasSubstr("give more images"));
  EXPECT_THAT(message_of([] {
                fit_space(array_of(at::rand({0, 8})), 1, Progress::none());
              }),
              HasSubstr("give more images"));
}

}  // namespace
}  // namespace protocom::testing
