#include "protocom/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "eval/evaluation_tasks.h"

namespace protocom::v0 {
namespace {

/// Checks a range that sampling itself does not check.
void check_whole(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most)
    fail_usage("{}: expected a whole number from {} to {}, found {}", name, least, most, value);
}

const EpisodeOptions& checked(const EpisodeOptions& options) {
  constexpr int64_t kMost = 1'000'000;
  const EpisodeShape& shape = options.shape;
  check_whole("n_way", shape.n_way, 1, kMost);
  check_whole("k_shot", shape.k_shot, 0, kMost);
  check_whole("most_shots", shape.most_shots, 0, kMost);
  check_whole("n_query", shape.n_query, 1, kMost);
  check_whole("unlabelled", shape.unlabelled, 0, kMost);
  check_whole("count", options.count, 1, 10 * kMost);
  if (!(shape.alpha > 0 && shape.alpha <= static_cast<double>(kMost)))
    fail_usage("alpha: expected a number above 0, found {}", shape.alpha);
  return options;
}

void add_results(const protocom::EvaluationTask& task, const std::string& baseline,
                 std::vector<MethodResult>& results) {
  const std::vector<protocom::MethodScores> scores = pooled(task.scores);
  const protocom::MethodScores* base = find_scores(scores, baseline);
  for (const protocom::MethodScores& score : scores) {
    MethodResult made;
    made.method = score.method;
    made.mode = score.mode;
    made.task = describe(task.shape);
    made.n_way = task.shape.n_way;
    made.k_shot = task.shape.k_shot;
    made.most_shots = task.shape.most_shots;
    made.n_query = task.shape.n_query;
    made.episodes = static_cast<int64_t>(score.accuracy.size());
    made.accuracy = estimate(score.accuracy);
    made.per_episode = score.accuracy;
    if (base != nullptr && base != &score) made.gain = paired_difference(score.accuracy, base->accuracy);
    results.push_back(std::move(made));
  }
}

Results evaluated(const std::vector<Episodes>& lists, const EvaluateOptions& given, protocom::Progress& progress) {
  const protocom::FeatureSet& features = lists.front().impl().features.impl().set;
  for (const Episodes& episodes : lists) {
    if (&episodes.impl().features.impl() != &lists.front().impl().features.impl())
      fail_usage("episodes of different FeatureSets: expected one FeatureSet in an evaluation");
  }
  protocom::Contestants contestants;
  contestants.methods = given.methods;
  contestants.fitted = fitted_of(given.fitted);
  contestants.knowledge = given.knowledge ? given.knowledge->impl().knowledge.get() : nullptr;
  contestants.model = given.model ? given.model->impl().model.get() : nullptr;
  contestants.baseline = given.baseline;
  std::vector<protocom::EpisodeList> own;
  for (const Episodes& episodes : lists) own.push_back(episodes.impl().list);
  const protocom::Evaluated evaluated = evaluate_lists(features, own, contestants, progress);
  Results made;
  made.baseline = evaluated.comparisons.baseline;
  for (const protocom::EvaluationTask& task : evaluated.tasks) add_results(task, made.baseline, made.results);
  return made;
}

std::string with_interval(const Estimate& estimate, const char* format) {
  return fmt::format(fmt::runtime(format), estimate.value, estimate.ci95);
}

}  // namespace

Episodes::Episodes(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Episodes::Episodes(const FeatureSet& features, const EpisodeOptions& options)
    : impl_(guarded([&] {
        return std::make_shared<const Impl>(Impl{features, sample_episodes(features.impl().set, checked(options))});
      })) {}

Episodes Episodes::read(const std::string& path, const FeatureSet& features) {
  return guarded([&] {
    return Episodes(std::make_shared<const Impl>(Impl{features, read_episodes(path, features.impl().set)}));
  });
}

void Episodes::save(const std::string& path) const {
  guarded([&] { write_episodes(path, impl_->list, impl_->features.impl().set); });
}

int64_t Episodes::size() const { return static_cast<int64_t>(impl_->list.episodes.size()); }

Episode Episodes::operator[](int64_t i) const {
  return guarded([&] {
    if (i < 0 || i >= size()) fail_usage("episode number out of range: there are {} episodes, found {}", size(), i);
    return impl_->list.episodes[static_cast<size_t>(i)];
  });
}

std::string Episodes::task() const {
  return guarded([&] { return describe(impl_->list.shape); });
}

std::string Episodes::hash() const {
  return guarded([&] { return impl_->list.hash(impl_->features.impl().set); });
}

Results evaluate(const Episodes& episodes, const EvaluateOptions& options, const Progress& progress) {
  return evaluate(std::vector<Episodes>{episodes}, options, progress);
}

Results evaluate(const std::vector<Episodes>& episodes, const EvaluateOptions& options, const Progress& progress) {
  return with_warnings([&] {
    if (episodes.empty()) fail_usage("there are no episodes to evaluate on");
    CallerProgress reported(progress);
    return evaluated(episodes, options, reported);
  });
}

std::string Results::table() const {
  return guarded([&] {
    size_t width = std::string("method").size(), task_width = std::string("task").size();
    for (const MethodResult& result : results) {
      width = std::max(width, result.method.size());
      task_width = std::max(task_width, result.task.size());
    }
    std::string lines = fmt::format("{:<{}}  {:<{}}  {:<15}  {:>14}  {}\n", "task", task_width, "method", width, "mode",
                                    "accuracy", "gain over " + baseline);
    for (const MethodResult& result : results)
      lines += fmt::format("{:<{}}  {:<{}}  {:<15}  {:>14}  {}\n", result.task, task_width, result.method, width,
                           result.mode, with_interval(result.accuracy, "{:.2f} ± {:.2f}"),
                           result.gain ? with_interval(*result.gain, "{:+.2f} ± {:.2f}") : "");
    return lines;
  });
}

const MethodResult& Results::of(const std::string& method, const std::string& task) const {
  for (const MethodResult& result : results) {
    if (result.method == method && (task.empty() || result.task == task)) return result;
  }
  throw UsageError(
      fmt::format("the method '{}' was not evaluated{}", method, task.empty() ? "" : fmt::format(" on {}", task)));
}

}  // namespace protocom::v0
