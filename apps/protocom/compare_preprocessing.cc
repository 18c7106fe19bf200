#include "compare_preprocessing.h"

#include <algorithm>

#include "cli.h"
#include "protocom/eval/statistics.h"

namespace protocom::cli {
namespace {

double mean_of(const PreprocessingTrial& trial) { return estimate(trial.right).value; }

std::string cell(const Estimate& points) { return fmt::format("{:.1f} ± {:.1f}", points.value, points.ci95); }

}  // namespace

void print_comparison(const std::vector<PreprocessingTrial>& trials) {
  const auto best = std::max_element(trials.begin(), trials.end(),
                                     [](const auto& a, const auto& b) { return mean_of(a) < mean_of(b); });
  std::vector<std::vector<std::string>> rows = {{"--preprocess", "images", "right, %", "less than the best"}};
  std::vector<std::string> level = {best->preset};
  for (const PreprocessingTrial& trial : trials) {
    const Estimate behind = paired_difference(best->right, trial.right);
    const bool is_best = &trial == &*best;
    rows.push_back(
        {trial.preset, describe(trial.preprocessing), cell(estimate(trial.right)), is_best ? "" : cell(behind)});
    if (!is_best && behind.value <= behind.ci95) level.push_back(trial.preset);
  }
  print_table(rows);
  fmt::print(
      "\n{} images of base classes, each named by the nearest of the classes' means without it (cosine of centred "
      "features).\n",
      best->right.size());
  if (level.size() == 1)
    fmt::print("Most are right with --preprocess {}.\n", best->preset);
  else
    fmt::print("These images do not tell {} apart: see what the encoder was trained with.\n", fmt::join(level, ", "));
}

}  // namespace protocom::cli
