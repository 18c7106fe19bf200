#include "protocom/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "eval/evaluation_tasks.h"

namespace protocom::v0 {
namespace {

/// For a range that sampling itself takes for granted.
void check_whole(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most)
    fail_usage("{} should be a whole number from {} to {}, found {}", name, least, most, value);
}

protocom::EpisodeOptions draw_of(const EpisodeOptions& options) {
  constexpr int64_t kMost = 1'000'000;
  check_whole("ways", options.ways, 1, kMost);
  check_whole("queries", options.queries, 1, kMost);
  check_whole("unlabelled", options.unlabelled, 0, kMost);
  check_whole("episodes", options.episodes, 1, 10 * kMost);
  protocom::EpisodeOptions draw;
  draw.shape.n_way = options.ways;
  draw.shape.n_query = options.queries;
  draw.shape.unlabelled = options.unlabelled;
  draw.shape.query_distribution = parse_query_distribution(options.distribution);
  draw.shape.alpha = options.alpha;
  if (!(options.alpha > 0 && options.alpha <= static_cast<double>(kMost)))
    fail_usage("alpha should be a number above 0, found {}", options.alpha);
  draw.shape = with_shots(draw.shape, options.shots);
  draw.split = parse_split(options.split);
  draw.count = options.episodes;
  draw.seed = options.seed;
  return draw;
}

/// Lists of one shape make one task.
std::vector<protocom::Task> tasks_of(const std::vector<Episodes>& lists) {
  std::vector<protocom::Task> tasks;
  for (const Episodes& episodes : lists) {
    const protocom::EpisodeShape& shape = episodes.impl().list.shape;
    const auto same = std::find_if(tasks.begin(), tasks.end(), [&](const protocom::Task& task) {
      return shape_json(task.shape) == shape_json(shape);
    });
    if (same == tasks.end())
      tasks.push_back({shape, {episodes.impl().list}});
    else
      same->lists.push_back(episodes.impl().list);
  }
  return tasks;
}

void check_dims(const std::vector<Fitted>& fitted, int64_t dim) {
  for (const Fitted& item : fitted) {
    if (item.dim() != dim)
      fail("'{}' was fitted on features of {} numbers, these have {}", item.method(), item.dim(), dim);
  }
}

std::vector<std::string> trained_on(const std::vector<Fitted>& fitted) {
  std::vector<std::string> names;
  for (const Fitted& item : fitted) names.insert(names.end(), item.trained_on().begin(), item.trained_on().end());
  return names;
}

Estimate front_estimate(const protocom::Estimate& own) { return {own.value, own.ci95}; }

void add_results(const protocom::Task& task, const std::string& baseline, std::vector<MethodResult>& results) {
  const std::vector<protocom::MethodScores> scores = pooled(task.scores);
  const protocom::MethodScores* base = find_scores(scores, baseline);
  for (const protocom::MethodScores& score : scores) {
    MethodResult made;
    made.method = score.method;
    made.mode = score.mode;
    made.task = describe(task.shape);
    made.accuracy = front_estimate(estimate(score.accuracy));
    made.per_episode = score.accuracy;
    if (base != nullptr && base != &score)
      made.gain = front_estimate(paired_difference(score.accuracy, base->accuracy));
    results.push_back(std::move(made));
  }
}

Results evaluated(const std::vector<Episodes>& lists, const EvaluateOptions& given, protocom::Progress& progress) {
  const protocom::FeatureSet& features = lists.front().impl().features.impl().set;
  for (const Episodes& episodes : lists) {
    if (&episodes.impl().features.impl() != &lists.front().impl().features.impl())
      fail_usage("all episodes of an evaluation should be of the same FeatureSet");
  }
  check_dims(given.fitted, features.dim());
  const protocom::CompletionModel* model = given.model ? given.model->impl().model.get() : nullptr;
  const protocom::Knowledge* knowledge = given.knowledge ? given.knowledge->impl().knowledge.get() : nullptr;
  if (model != nullptr && knowledge == nullptr) fail_usage("a completion model needs knowledge of the classes");
  protocom::KnowledgeTable described;
  if (model != nullptr) described = align_knowledge(*knowledge, features.class_names, model->attributes);
  protocom::EvaluateInputs inputs{features, model, model != nullptr ? &described : nullptr, knowledge};
  inputs.trained_on = trained_on(given.fitted);
  const std::vector<protocom::FittedMethod> fitted = fitted_of(given.fitted);
  protocom::EvaluateOptions options;
  options.methods = make_methods(given.methods.empty() ? default_methods(model, fitted) : given.methods, fitted);
  Results made;
  made.baseline = with_labels({given.baseline, {}}, labels_of(options.methods)).baseline;
  std::vector<protocom::Task> tasks = tasks_of(lists);
  evaluate_tasks(inputs, tasks, options, progress);
  for (const protocom::Task& task : tasks) add_results(task, made.baseline, made.results);
  return made;
}

std::string with_interval(const Estimate& estimate, const char* format) {
  return fmt::format(fmt::runtime(format), estimate.value, estimate.ci95);
}

}  // namespace

Episodes::Episodes(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Episodes::Episodes(const FeatureSet& features, const EpisodeOptions& options)
    : impl_(guarded([&] {
        return std::make_shared<const Impl>(Impl{features, sample_episodes(features.impl().set, draw_of(options))});
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
    if (i < 0 || i >= size()) fail_usage("there are {} episodes, found the number {}", size(), i);
    const protocom::Episode& own = impl_->list.episodes[static_cast<size_t>(i)];
    return Episode{own.classes, own.support, own.query, own.pool};
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
