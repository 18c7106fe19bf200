#include "eval/speed.h"

#include <algorithm>
#include <ctime>
#include <tuple>

#include "eval/detail/episode_rows.h"
#include "eval/detail/prepared_context.h"
#include "fewshot/scorer_group.h"

namespace protocom {
namespace {

/// Returns the first episodes of a list as batches of one shape, as evaluate() makes them.
std::vector<RowBatch> first_batches(const EpisodeList& list, int64_t together) {
  constexpr size_t kMost = 8;
  std::vector<RowBatch> batches;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < list.episodes.size() && batches.size() < kMost; ++i) {
    if (same_shape(list.episodes.front(), list.episodes[i])) numbers.push_back(i);
    if (static_cast<int64_t>(numbers.size()) < together && i + 1 < list.episodes.size()) continue;
    batches.push_back(rows_of(list, numbers));
    numbers.clear();
  }
  return batches;
}

double seconds_since(std::clock_t begun) { return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC; }

}  // namespace

double episodes_per_second(const EvaluateInputs& inputs, const EpisodeList& list,
                           const std::shared_ptr<const Method>& method) {
  constexpr double kSeconds = 0.5;
  const Methods methods = {method};
  const PreparedContext known(inputs, methods);
  const ScorerGroup scorers(methods, known.context(), inputs.features.features);
  const auto batches = first_batches(list, episodes_together(list, inputs.features.dim()));
  for (const RowBatch& rows : batches) std::ignore = scorers.score(rows);  // maps the rows that they read
  const std::clock_t begun = std::clock();
  int64_t episodes = 0;
  for (size_t i = 0; seconds_since(begun) < kSeconds; ++i) {
    const RowBatch& rows = batches[i % batches.size()];
    std::ignore = scorers.score(rows);
    episodes += rows.size();
  }
  return static_cast<double>(episodes) / seconds_since(begun);
}

void add_speeds(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks, const Methods& methods,
                nlohmann::json& findings) {
  size_t row = 0;
  for (const EvaluationTask& task : tasks) {
    const auto& scores = task.scores.front().methods;
    for (const auto& method : methods) {
      const bool answered = std::any_of(scores.begin(), scores.end(), [&](const MethodScores& method_scores) {
        return method_scores.method == method->label();
      });
      if (!answered) continue;  // not in the tasks without labelled images
      findings["results"][row++]["episodes_per_second"] = episodes_per_second(inputs, task.lists.front(), method);
    }
  }
}

}  // namespace protocom
