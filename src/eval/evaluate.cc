#include "protocom/eval/evaluate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <optional>

#include "completed_supports.h"
#include "episode_run.h"
#include "feature_rows.h"
#include "protocom/core/error.h"

namespace protocom {
namespace {

struct MethodFacts {
  Method method;
  std::string_view name;
  std::string_view mode;
};

constexpr std::array<MethodFacts, 4> kMethods = {{{Method::kMean, "mean", "inductive"},
                                                  {Method::kCompleted, "completed", "inductive"},
                                                  {Method::kMeanFusion, "mean-fusion", "inductive"},
                                                  {Method::kGaussFusion, "gauss-fusion", "transductive"}}};

const MethodFacts& facts(Method method) { return kMethods[static_cast<size_t>(method)]; }

bool needs_completion(const std::vector<Method>& methods) {
  return std::any_of(methods.begin(), methods.end(), [](Method method) { return method != Method::kMean; });
}

void check_request(const FeatureSet& features, const CompletionModel* model, const ClassKnowledge* classes,
                   const EvaluateOptions& options) {
  if (options.methods.empty()) fail_usage("no method to evaluate");
  if (options.batch < 1) fail_usage("the batch must be at least 1, found {}", options.batch);
  if (!needs_completion(options.methods)) return;
  if (model == nullptr || classes == nullptr) fail_usage("every method but 'mean' needs a model and knowledge");
  const auto& sizes = model->network.options();
  if (sizes.feature_dim != features.dim()) {
    fail("the model completes features of {} dimensions, these have {}", sizes.feature_dim, features.dim());
  }
  if (sizes.embedding_dim != classes->embedding.size(1)) {
    fail("the model was trained with embeddings of {} dimensions, the knowledge has {}", sizes.embedding_dim,
         classes->embedding.size(1));
  }
}

void append_rows(const std::vector<std::vector<int64_t>>& groups, std::vector<int64_t>& rows) {
  for (const auto& group : groups) rows.insert(rows.end(), group.begin(), group.end());
}

/// Makes tasks of episodes without taking memory for each.
void set_task(const Episode& episode, EpisodeTask& task) {
  task.episode = &episode;
  task.query.clear();
  append_rows(episode.query, task.query);
  task.unlabelled.clear();
  append_rows(episode.pool, task.unlabelled);
}

void set_completed(const CompletedSupports* supports, size_t episode, EpisodeTask& task) {
  if (supports == nullptr) return;
  task.completed.clear();
  for (size_t i = 0; i < task.episode->classes.size(); ++i) task.completed.push_back(supports->of(episode, i));
}

/// A running evaluation of one list.
class ListEvaluation {
 public:
  ListEvaluation(const FeatureSet& features, const EpisodeList& list, const CompletionModel* model,
                 const ClassKnowledge* classes, const EvaluateOptions& options)
      : features_(features), list_(list), options_(options), rows_(features, features.classes_of(list.split)) {
    if (needs_completion(options.methods)) {
      completer_.emplace(*model, *classes);
      supports_.emplace(features, rows_, *completer_, list);
    }
    const auto episodes = list.episodes.size();
    first_query_.push_back(0);
    for (const Episode& episode : list.episodes) {
      size_t queries = 0;
      for (const auto& group : episode.query) queries += group.size();
      first_query_.push_back(first_query_.back() + queries);
    }
    for (const Method method : options.methods) {
      results_.push_back({method, std::vector<double>(episodes), std::vector<double>(episodes), {}});
      if (keeps_predictions()) results_.back().predictions.resize(first_query_.back());
    }
  }

  /// Runs the episodes [begin, end).
  void run(size_t begin, size_t end) {
    if (supports_) supports_->prepare(begin, end);
    constexpr int64_t kGrain = 8;
    const auto probabilities = keeps_predictions() ? WithProbabilities::kYes : WithProbabilities::kNo;
    at::parallel_for(static_cast<int64_t>(begin), static_cast<int64_t>(end), kGrain, [&](int64_t from, int64_t to) {
      EpisodeRun run(rows_, options_, probabilities);
      EpisodeTask task;
      for (auto i = static_cast<size_t>(from); i < static_cast<size_t>(to); ++i) {
        set_task(list_.episodes[i], task);
        set_completed(supports(), i, task);
        run.run(task);
        for (size_t m = 0; m < results_.size(); ++m) store(run.answers()[m], i, results_[m]);
      }
    });
  }

  void check_permutations(ProtocolChecks& checks) {
    for (const Method method : options_.methods) {
      EvaluateOptions alone = options_;
      alone.methods = {method};
      EpisodeRun run(rows_, alone, WithProbabilities::kYes);
      EpisodeTask task;
      const auto classify = [&](const Episode& episode, const std::vector<int64_t>& query) {
        const auto number = static_cast<size_t>(&episode - list_.episodes.data());
        if (supports_) supports_->prepare(number, number + 1);
        set_task(episode, task);
        task.query = query;
        set_completed(supports(), number, task);
        run.run(task);
        const EpisodeAnswers& answers = run.answers().front();
        std::vector<QueryVerdict> verdicts;
        for (size_t i = 0; i < query.size(); ++i) verdicts.push_back({answers.winner[i], answers.margin[i]});
        return verdicts;
      };
      check_permutation(features_, list_, std::string(to_string(method)), classify, checks);
    }
  }

  std::vector<MethodScores> take() { return std::move(results_); }

 private:
  [[nodiscard]] bool keeps_predictions() const { return options_.predictions == KeepPredictions::kYes; }
  [[nodiscard]] const CompletedSupports* supports() const { return supports_ ? &*supports_ : nullptr; }

  /// Queries stand class by class.
  void store(const EpisodeAnswers& answers, size_t number, MethodScores& result) const {
    const Episode& episode = list_.episodes[number];
    size_t query = 0;
    size_t correct = 0;
    for (size_t k = 0; k < episode.classes.size(); ++k) {
      for (const int64_t row : episode.query[k]) {
        const int64_t winner = answers.winner[query];
        correct += winner == static_cast<int64_t>(k) ? 1 : 0;
        if (keeps_predictions()) {
          result.predictions[first_query_[number] + query] = {
              static_cast<int64_t>(number), row,
              episode.classes[k],           episode.classes[static_cast<size_t>(winner)],
              answers.probability[query],   answers.margin[query]};
        }
        ++query;
      }
    }
    result.accuracy[number] = 100.0 * static_cast<double>(correct) / static_cast<double>(query);
    result.cosine[number] = answers.centre_cosine;
  }

  const FeatureSet& features_;
  const EpisodeList& list_;
  const EvaluateOptions& options_;
  FeatureRows rows_;
  std::optional<Completer> completer_;
  std::optional<CompletedSupports> supports_;
  std::vector<size_t> first_query_;  // [episodes + 1]
  std::vector<MethodScores> results_;
};

}  // namespace

std::string_view to_string(Method method) { return facts(method).name; }

Method parse_method(std::string_view text) {
  for (const auto& entry : kMethods) {
    if (entry.name == text) return entry.method;
  }
  fail_usage("unknown method '{}'; use mean, completed, mean-fusion or gauss-fusion", text);
}

std::vector<Method> all_methods() {
  return {Method::kMean, Method::kCompleted, Method::kMeanFusion, Method::kGaussFusion};
}

std::string_view mode_of(Method method) { return facts(method).mode; }

std::string_view mode_of(Method method, const EpisodeShape& shape) {
  return method == Method::kGaussFusion && shape.unlabelled > 0 ? "semi-supervised" : mode_of(method);
}

CheckedScores evaluate_checked(const FeatureSet& features, const EpisodeList& episodes, const CompletionModel* model,
                               const ClassKnowledge* classes, const EvaluateOptions& options, Progress& progress) {
  check_request(features, model, classes, options);
  CheckedScores result{{}, check_episodes(features, episodes)};
  if (model != nullptr) check_unseen(features, episodes.split, model->trained_on, result.checks);
  const at::NoGradGuard no_grad;
  ListEvaluation evaluation(features, episodes, model, classes, options);
  evaluation.check_permutations(result.checks);
  const auto step = static_cast<size_t>(options.batch);
  progress.start("evaluate", static_cast<int64_t>(episodes.episodes.size()));
  for (size_t begin = 0; begin < episodes.episodes.size(); begin += step) {
    const size_t end = std::min(begin + step, episodes.episodes.size());
    evaluation.run(begin, end);
    progress.advance(static_cast<int64_t>(end), "");
  }
  progress.finish();
  result.methods = evaluation.take();
  return result;
}

std::vector<MethodScores> evaluate(const FeatureSet& features, const EpisodeList& episodes,
                                   const CompletionModel* model, const ClassKnowledge* classes,
                                   const EvaluateOptions& options, Progress& progress) {
  return evaluate_checked(features, episodes, model, classes, options, progress).methods;
}

}  // namespace protocom
