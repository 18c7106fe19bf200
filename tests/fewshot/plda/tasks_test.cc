#include "fewshot/plda/detail/tasks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/plda_world.h"

namespace protocom {
namespace {

using testing::plda_world;

/// Eight classes of ten images, each of which has a column of its own: a sum of rows says which images are in it.
HeldOutClasses numbered_images() {
  HeldOutClasses world = plda_world({8, 10});
  world.features = at::eye(80);
  return world;
}

TEST(PldaTasks, AskNothingThatTheyLabelAndNothingTwice) {
  for (const TaskQueries kind : {TaskQueries::kBalanced, TaskQueries::kDirichletHalf}) {
    Rng rng(4);
    const PldaTasks tasks = draw_tasks(numbered_images(), {30, 3, kind, 5}, rng);
    const at::Tensor used = tasks.sum.sum(1) + tasks.queries.sum(1);  // [b, images]
    EXPECT_EQ(used.max().item<float>(), 1);
    // The class of an image is its column over ten.
    const at::Tensor of_support = tasks.sum.argmax(-1).floor_divide(10);    // [b, n]
    const at::Tensor of_query = tasks.queries.argmax(-1).floor_divide(10);  // [b, q]
    EXPECT_TRUE(of_support.gather(1, tasks.labels).equal(of_query));
  }
}

TEST(PldaTasks, AskEquallyOftenOrOfFewClassesMost) {
  Rng rng(5);
  const auto share_of_most = [&](TaskQueries kind) {
    const PldaTasks tasks = draw_tasks(plda_world({8, 60}), {40, 1, kind, 5}, rng);
    EXPECT_EQ(tasks.labels.size(1), 50);
    const at::Tensor filled =
        at::stack({tasks.labels.eq(0).sum(1), tasks.labels.eq(1).sum(1), tasks.labels.eq(2).sum(1),
                   tasks.labels.eq(3).sum(1), tasks.labels.eq(4).sum(1)});
    return filled.amax(0).to(at::kDouble).mean().item<double>() / 50;
  };
  EXPECT_DOUBLE_EQ(share_of_most(TaskQueries::kBalanced), 0.2);
  EXPECT_GT(share_of_most(TaskQueries::kDirichletHalf), 0.45);
}

TEST(PldaTasks, WithOthersHaveTheQueriesOfAllClassesAndTheImagesOfSome) {
  Rng rng(6);
  const PldaTasks all = draw_tasks(numbered_images(), {20, 2, TaskQueries::kBalanced, 6}, rng);
  const PldaTasks some = with_others(all, 2);
  EXPECT_TRUE(some.sum.equal(all.sum.narrow(1, 0, 2)));
  EXPECT_EQ(some.count.sizes(), at::IntArrayRef({20, 2}));
  EXPECT_EQ(some.prior.mean_varied.size(1), 2);
  EXPECT_EQ(some.prior.variance_rest.size(1), 2);
  EXPECT_TRUE(some.queries.equal(all.queries));
  EXPECT_EQ(some.labels.ge(2).sum().item<int64_t>() * 6, some.labels.numel() * 4);
}

TEST(TaskDraws, HaveNumbersOfTheirOwnForEachPurposePartAndNumberOfShots) {
  const TaskDraws draws{60, 1};
  EXPECT_EQ(draws.each(4), 15);
  EXPECT_EQ(draws.each(100), 1);
  std::vector<uint64_t> first;
  for (const TaskPurpose purpose : {TaskPurpose::kSettings, TaskPurpose::kProbabilities}) {
    for (size_t part = 0; part < 4; ++part) first.push_back(draws.rng(purpose, part, 0).next());
  }
  first.push_back(draws.rng(TaskPurpose::kProbabilities, 0, 5).next());
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

}  // namespace
}  // namespace protocom
