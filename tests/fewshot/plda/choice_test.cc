#include "fewshot/plda/detail/choice.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/plda_world.h"

namespace protocom {
namespace {

DoubleVector figures(const std::vector<double>& values) {
  return Eigen::Map<const DoubleVector>(values.data(), static_cast<int64_t>(values.size()));
}

TEST(Choose, KeepsTheFirstUnlessTheGainIsAboveItsStandardError) {
  EXPECT_EQ(choose({figures({50, 60, 70})}), 0U);
  EXPECT_EQ(choose({figures({50, 60, 70}), figures({51, 61, 71})}), 1U) << "a gain everywhere";
  EXPECT_EQ(choose({figures({50, 60, 70}), figures({40, 60, 83})}), 0U) << "a gain of 1.0 ± 6.7";
  EXPECT_EQ(choose({figures({50, 60, 70}), figures({50, 60, 70})}), 0U);
}

TEST(Choose, TakesTheBestOfThoseThatAreSurelyBetter) {
  EXPECT_EQ(choose({figures({50, 60}), figures({51, 61}), figures({53, 63}), figures({52, 62})}), 2U);
  EXPECT_EQ(choose({figures({50, 60}), figures({51, 61}), figures({40, 77})}), 1U) << "a higher mean by chance";
}

TEST(Choose, HasTheStandardErrorOfPairedDifferences) {
  EXPECT_NEAR(standard_error(figures({1, 3})), 1, 1e-12);  // std sqrt(2), over sqrt(2)
  EXPECT_EQ(standard_error(figures({4})), 0);
}

TEST(Accuracies, AreThoseOfEachTaskInPercent) {
  PldaTasks tasks;
  tasks.tasks.resize(2);
  tasks.tasks[0].labels = {0, 1, 1, 0};
  tasks.tasks[1].labels = {1, 0, 1, 0};
  FloatMatrix first(4, 2), second(4, 2);  // the answers 0 1 0 0 and 1 0 1 0
  first << 1, 0, 0, 1, 1, 0, 1, 0;
  second << 0, 1, 1, 0, 0, 1, 1, 0;
  const DoubleVector found = accuracies({tasks, tasks}, [&](const PldaTasks& of, const HeldOutTask& task) {
    return &task == &of.tasks[0] ? first : second;
  });
  EXPECT_EQ(found, figures({75, 100, 75, 100}));
}

TEST(SettingTasks, AreOfOneAndOfFiveShotsAndTheSameForTheSameImages) {
  const std::vector<HeldOutClasses> parts = {testing::plda_world({8, 20}), testing::plda_world({8, 6})};
  const auto tasks = setting_tasks(parts, {TaskQueries::kBalanced}, {10, 1});
  ASSERT_EQ(tasks.size(), 4U);
  EXPECT_EQ(tasks[0].k_shot, 1);
  EXPECT_EQ(tasks[1].k_shot, 5);
  EXPECT_EQ(tasks[3].k_shot, 3) << "half of six images";
  EXPECT_EQ(tasks[0].tasks.size(), 5U) << "ten over both parts";
  EXPECT_EQ(setting_tasks(parts, {TaskQueries::kBalanced}, {10, 1})[1].tasks[4].sum, tasks[1].tasks[4].sum);
  EXPECT_TRUE(setting_tasks({testing::plda_world({8, 1})}, {TaskQueries::kBalanced}, {10, 1}).empty());
}

}  // namespace
}  // namespace protocom
