#include "fewshot/plda/detail/tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/plda_world.h"

namespace protocom {
namespace {

using testing::plda_world;

/// Returns eight classes of ten images, each with a column of its own: a sum of rows shows which images are in it.
HeldOutClasses numbered_images() {
  HeldOutClasses world = plda_world({8, 10});
  world.features = std::make_shared<const FloatMatrix>(FloatMatrix::Identity(80, 80));
  return world;
}

Eigen::Index place_of_largest(const Eigen::RowVectorXf& row) {
  Eigen::Index place = 0;
  row.maxCoeff(&place);
  return place;
}

TEST(PldaTasks, AskNothingThatTheyLabelAndNothingTwice) {
  for (const TaskQueries kind : {TaskQueries::kBalanced, TaskQueries::kDirichletHalf}) {
    Rng rng(4);
    for (const HeldOutTask& task : draw_tasks(numbered_images(), {30, 3, kind, 5}, rng).tasks) {
      Eigen::RowVectorXf used = task.sum.colwise().sum();
      for (size_t i = 0; i < task.queries.size(); ++i) {
        const Eigen::RowVectorXf query = Eigen::Map<const Eigen::RowVectorXf>(task.queries[i], 80);
        used += query;
        // The class of an image is its column over ten.
        EXPECT_EQ(place_of_largest(query) / 10, place_of_largest(task.sum.row(task.labels[i])) / 10);
      }
      EXPECT_EQ(used.maxCoeff(), 1);
    }
  }
}

TEST(PldaTasks, AskEquallyOftenOrOfFewClassesMost) {
  Rng rng(5);
  const auto share_of_most = [&](TaskQueries kind) {
    double share = 0;
    const PldaTasks tasks = draw_tasks(plda_world({8, 60}), {40, 1, kind, 5}, rng);
    for (const HeldOutTask& task : tasks.tasks) {
      EXPECT_EQ(task.labels.size(), 50U);
      std::vector<double> filled(5);
      for (const int64_t label : task.labels) filled[static_cast<size_t>(label)] += 1;
      share += *std::max_element(filled.begin(), filled.end()) / 50 / static_cast<double>(tasks.tasks.size());
    }
    return share;
  };
  EXPECT_NEAR(share_of_most(TaskQueries::kBalanced), 0.2, 1e-12);
  EXPECT_GT(share_of_most(TaskQueries::kDirichletHalf), 0.45);
}

TEST(PldaTasks, WithOthersHaveTheQueriesOfAllClassesAndTheImagesOfSome) {
  Rng rng(6);
  const PldaTasks all = draw_tasks(numbered_images(), {20, 2, TaskQueries::kBalanced, 6}, rng);
  const PldaTasks some = with_others(all, 2);
  ASSERT_EQ(some.tasks.size(), 20U);
  for (size_t t = 0; t < 20; ++t) {
    const HeldOutTask &before = all.tasks[t], &after = some.tasks[t];
    EXPECT_EQ(after.sum, before.sum.topRows(2));
    EXPECT_EQ(after.count.size(), 2);
    EXPECT_EQ(after.prior.mean_varied.rows(), 2);
    EXPECT_EQ(after.prior.variance_rest.size(), 2);
    EXPECT_EQ(after.queries, before.queries);
    const auto others = std::count_if(after.labels.begin(), after.labels.end(), [](int64_t k) { return k >= 2; });
    EXPECT_EQ(static_cast<size_t>(others) * 6, after.labels.size() * 4);
  }
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
