#include "training/completion_gain.h"

#include <gtest/gtest.h>

namespace protocom {
namespace {

/// Returns ten episodes around an accuracy, half a point above and below it; `wobble` moves single episodes relative to
/// other rows.
MethodScores row_of(const std::string& method, double accuracy, double wobble = 0) {
  MethodScores scores;
  scores.method = method;
  for (int i = 0; i < 10; ++i) scores.accuracy.push_back(accuracy + (i % 2 == 0 ? 0.5 : -0.5) * (1 + wobble));
  return scores;
}

TEST(CompletionWorth, KeepsTheFusionUnlessAnotherRowIsSurelyBetter) {
  EXPECT_EQ(best_inductive_row({row_of("mean", 50), row_of("completed", 54), row_of("mean-fusion", 55)}),
            "mean-fusion");
  EXPECT_EQ(best_inductive_row({row_of("mean", 60), row_of("completed", 54), row_of("mean-fusion", 55)}), "mean");
  EXPECT_EQ(best_inductive_row({row_of("mean", 60), row_of("completed", 61), row_of("mean-fusion", 55)}), "completed");
  // 0.2 more, while single episodes differ by 4 in both directions.
  EXPECT_EQ(best_inductive_row({row_of("mean", 55.2, 8), row_of("mean-fusion", 55)}), "mean-fusion");
  EXPECT_EQ(best_inductive_row({}), "mean-fusion");
}

TEST(CompletionWorth, SaysWhatKnowledgeAddsAndWhatIsUsed) {
  EXPECT_EQ(
      completion_gain_sentence({row_of("mean", 50), row_of("completed", 54), row_of("mean-fusion", 55)}, 1),
      "Knowledge adds 5.0 ± 0.0 points to the 50.0 % of the mean of 1 image (mean-fusion, val episodes); classify "
      "uses mean-fusion.");
  EXPECT_EQ(
      completion_gain_sentence({row_of("mean", 60), row_of("completed", 50), row_of("mean-fusion", 55)}, 5),
      "Knowledge costs 5.0 ± 0.0 points of the 60.0 % of the mean of 5 images (mean-fusion, val episodes); classify "
      "uses mean.");
  EXPECT_EQ(completion_gain_sentence({row_of("mean", 60)}, 1), "");
}

}  // namespace
}  // namespace protocom
