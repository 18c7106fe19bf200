#include "eval/evaluate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "eval/detail/class_centres.h"
#include "eval/detail/episode_rows.h"
#include "eval/detail/prepared_context.h"
#include "eval/detail/used_rows.h"
#include "fewshot/paper/completion_model.h"
#include "fewshot/scorer_group.h"

namespace protocom {
namespace {

/// A process's share of a list: episodes [first, second), and their queries, numbered over the list.
struct ListShare {
  std::pair<int64_t, int64_t> episodes;
  std::pair<int64_t, int64_t> queries;
};

constexpr int64_t kFields = 6;

/// Stores predictions as rows of six numbers, all of which a double represents exactly.
Array prediction_rows(const std::vector<Prediction>& predictions) {
  Array rows = Array::uninitialised({static_cast<int64_t>(predictions.size()), kFields}, NumberType::kFloat64);
  auto* to = rows.mutable_data<double>();
  for (const Prediction& prediction : predictions) {
    for (const int64_t value : {prediction.episode, prediction.row, prediction.true_class, prediction.predicted})
      *to++ = static_cast<double>(value);
    *to++ = prediction.probability;
    *to++ = prediction.margin;
  }
  return rows;
}

std::vector<Prediction> predictions_of(const Array& rows) {
  std::vector<Prediction> predictions;
  const auto* from = rows.data<double>();
  for (int64_t i = 0; i < rows.size(0); ++i, from += kFields) {
    predictions.push_back({static_cast<int64_t>(from[0]), static_cast<int64_t>(from[1]), static_cast<int64_t>(from[2]),
                           static_cast<int64_t>(from[3]), static_cast<float>(from[4]), static_cast<float>(from[5])});
  }
  return predictions;
}

void gather(const std::pair<int64_t, int64_t>& share, const ProcessGroup& group, std::vector<double>& values) {
  if (values.empty()) return;
  const Array own = Array::of(std::vector<double>{values.begin() + share.first, values.begin() + share.second});
  const Array all = group.gather_rows(own.reshaped({own.numel(), 1}));
  std::copy_n(all.data<double>(), values.size(), values.begin());
}

/// Gathers the results of each process of a group. Before, every process has vectors for the whole list of which its
/// share is filled; after, all of them are.
void gather_scores(const ListShare& own, const ProcessGroup& group, std::vector<MethodScores>& methods) {
  for (MethodScores& method : methods) {
    gather(own.episodes, group, method.accuracy);
    gather(own.episodes, group, method.cosine);
    if (method.predictions.empty()) continue;
    const auto begin = method.predictions.begin();
    const Array rows = prediction_rows({begin + own.queries.first, begin + own.queries.second});
    method.predictions = predictions_of(group.gather_rows(rows));
  }
}

/// Throws UsageError for a method that needs more labelled images than the tasks have.
void check_shots(const Methods& methods, const EpisodeShape& shape) {
  for (const auto& method : methods) {
    if (method->spec().fewest_shots > shape.k_shot) {
      fail_usage(
          "'{}' needs at least {} labelled images per class, the tasks have {}: leave it out, or request more shots",
          method->label(), method->spec().fewest_shots, shape.k_shot);
    }
  }
}

/// Returns the classes that the completion model and fitted methods were trained on, each once.
std::vector<std::string> trained_on(const EvaluateInputs& inputs) {
  std::set<std::string> names(inputs.trained_on.begin(), inputs.trained_on.end());
  if (inputs.model != nullptr) names.insert(inputs.model->trained_on.begin(), inputs.model->trained_on.end());
  return {names.begin(), names.end()};
}

int64_t index_of_largest(const float* logits, int64_t n) { return std::max_element(logits, logits + n) - logits; }

/// Returns the winner of a row of logits, its margin over the second and its probability.
QueryVerdict judge_query(const float* logits, int64_t n) {
  const int64_t winner = index_of_largest(logits, n);
  float total = 0;
  float second = 0;
  for (int64_t j = 0; j < n; ++j) {
    // Relative to the largest logit, so that no exponential overflows.
    const float weight = std::exp(logits[j] - logits[winner]);
    total += weight;
    if (j != winner) second = std::max(second, weight);
  }
  return {winner, (1 - second) / total, 1 / total};
}

/// A running evaluation of one list.
class ListEvaluation {
 public:
  ListEvaluation(const EvaluateInputs& inputs, const EpisodeList& list, const ScoringOptions& options)
      : features_(inputs.features),
        list_(list),
        options_(options),
        known_(inputs, options.methods),
        scorers_(options.methods, known_.context(), features_.features),
        centres_(features_, features_.classes_of(list.split)),
        together_(episodes_together(list, features_.dim())) {
    const auto episodes = list.episodes.size();
    first_query_.push_back(0);
    for (const Episode& episode : list.episodes) {
      size_t queries = 0;
      for (const auto& group : episode.query) queries += group.size();
      first_query_.push_back(first_query_.back() + queries);
    }
    for (const auto& method : options.methods) {
      results_.push_back({method->label(), mode_of(method->spec(), list.shape), std::vector<double>(episodes), {}});
      if (keeps_predictions()) results_.back().predictions.resize(first_query_.back());
    }
    if (!list.episodes.empty()) find_which_have_prototypes();
  }

  /// Runs the episodes [begin, end); `begin` is a multiple of together(). Only this thread reports progress.
  void run(int64_t begin, int64_t end, Progress& progress) {
    const auto caller = std::this_thread::get_id();
    std::atomic<int64_t> done{0};
    parallel_each((end - begin + together_ - 1) / together_, [&](int64_t i) {
      const int64_t chunk = begin + i * together_, stop = std::min(chunk + together_, end);
      run_chunk(static_cast<size_t>(chunk), static_cast<size_t>(stop));
      const int64_t all = done += stop - chunk;
      if (std::this_thread::get_id() == caller) progress.advance(all, "");
    });
  }

  /// Checks every method on the same episodes and orders; each combination is scored once, for all methods.
  void check_permutations(ProtocolChecks& checks) {
    std::map<std::pair<size_t, std::vector<int64_t>>, std::vector<EpisodeScores>> asked;  // by episode and queries
    for (size_t m = 0; m < results_.size(); ++m) {
      const auto classify = [&](const Episode& episode, const std::vector<int64_t>& query) {
        const auto number = static_cast<size_t>(&episode - list_.episodes.data());
        RowBatch rows = rows_of(list_, {number});
        rows.query = query;
        auto& found = asked[{number, query}];
        if (found.empty()) found = scorers_.score(rows);
        const EpisodeScores& scores = found[m];
        std::vector<QueryVerdict> verdicts;
        for (int64_t i = 0; i < rows.q; ++i)
          verdicts.push_back(judge_query(scores.logits.data<float>() + i * rows.n, rows.n));
        return verdicts;
      };
      check_permutation(features_, list_, {results_[m].method, classify}, checks);
    }
  }

  [[nodiscard]] int64_t together() const { return together_; }
  [[nodiscard]] std::pair<int64_t, int64_t> queries_of(int64_t begin, int64_t end) const {
    return {first_query_[static_cast<size_t>(begin)], first_query_[static_cast<size_t>(end)]};
  }
  std::vector<MethodScores> take() { return std::move(results_); }

 private:
  [[nodiscard]] bool keeps_predictions() const { return options_.predictions == KeepPredictions::kYes; }

  void find_which_have_prototypes() {
    const auto scores = scorers_.score(rows_of(list_, {0}));
    for (size_t m = 0; m < scores.size(); ++m) {
      if (!scores[m].prototypes.defined()) continue;
      results_[m].cosine.resize(list_.episodes.size());
      centres_.find();
    }
  }

  /// Scores adjacent episodes of one shape together.
  void run_chunk(size_t begin, size_t end) {
    while (begin < end) {
      size_t stop = begin + 1;
      while (stop < end && same_shape(list_.episodes[begin], list_.episodes[stop])) ++stop;
      std::vector<size_t> numbers;
      for (size_t i = begin; i < stop; ++i) numbers.push_back(i);
      const RowBatch rows = rows_of(list_, numbers);
      const auto scores = scorers_.score(rows);
      for (size_t m = 0; m < scores.size(); ++m) {
        for (size_t i = begin; i < stop; ++i)
          store(scores[m].logits.data<float>() + static_cast<int64_t>(i - begin) * rows.q * rows.n, i, results_[m]);
        if (scores[m].prototypes.defined())
          centres_.cosines(scores[m].prototypes, rows.classes, results_[m].cosine.data() + begin);
      }
      begin = stop;
    }
  }

  /// Stores answers; queries are listed class by class.
  void store(const float* logits, size_t number, MethodScores& result) const {
    const Episode& episode = list_.episodes[number];
    const auto n = static_cast<int64_t>(episode.classes.size());
    size_t query = 0;
    size_t correct = 0;
    for (size_t k = 0; k < episode.classes.size(); ++k) {
      for (const int64_t row : episode.query[k]) {
        const float* own = logits + static_cast<int64_t>(query) * n;
        correct += index_of_largest(own, n) == static_cast<int64_t>(k) ? 1 : 0;
        if (keeps_predictions()) {
          const QueryVerdict verdict = judge_query(own, n);
          result.predictions[first_query_[number] + query] = {
              static_cast<int64_t>(number), row,
              episode.classes[k],           episode.classes[static_cast<size_t>(verdict.winner)],
              verdict.probability,          verdict.margin};
        }
        ++query;
      }
    }
    result.accuracy[number] = 100.0 * static_cast<double>(correct) / static_cast<double>(query);
  }

  const FeatureSet& features_;
  const EpisodeList& list_;
  const ScoringOptions& options_;
  PreparedContext known_;
  ScorerGroup scorers_;
  ClassCentres centres_;
  int64_t together_;
  std::vector<size_t> first_query_;  // [episodes + 1]
  std::vector<MethodScores> results_;
};

}  // namespace

const MethodScores* find_scores(const std::vector<MethodScores>& scores, const std::string& label) {
  const auto found = std::find_if(scores.begin(), scores.end(), [&](const auto& item) { return item.method == label; });
  return found == scores.end() ? nullptr : &*found;
}

std::string mode_of(const MethodSpec& spec, const EpisodeShape& shape) {
  return spec.sees == Sees::kAllQueries && shape.unlabelled > 0 ? "semi-supervised" : std::string(spec.mode());
}

CheckedScores evaluate_checked(const EvaluateInputs& inputs, const EpisodeList& episodes, const ScoringOptions& options,
                               Progress& progress) {
  if (options.methods.empty()) fail_usage("no method to evaluate");
  check_shots(options.methods, episodes.shape);
  CheckedScores result{{}, check_episodes(inputs.features, episodes)};
  check_unseen(inputs.features, episodes.split, trained_on(inputs), result.checks);
  check_used_rows(inputs.features, episodes);
  ListEvaluation evaluation(inputs, episodes, options);
  evaluation.check_permutations(result.checks);
  const auto count = static_cast<int64_t>(episodes.episodes.size());
  const int64_t together = evaluation.together();
  // Each process and thread gets whole chunks: what is scored together, and so every rounding, is the same for any
  // number of them.
  const auto [first, last] = options.group->share((count + together - 1) / together);
  const int64_t begin = std::min(first * together, count);
  const int64_t end = std::min(last * together, count);
  progress.start("evaluate", end - begin);
  evaluation.run(begin, end, progress);
  progress.advance(end - begin, "");
  progress.finish();
  result.methods = evaluation.take();
  if (options.group->is_single()) return result;
  gather_scores({{begin, end}, evaluation.queries_of(begin, end)}, *options.group, result.methods);
  return result;
}

std::vector<MethodScores> evaluate(const EvaluateInputs& inputs, const EpisodeList& episodes,
                                   const ScoringOptions& options, Progress& progress) {
  return evaluate_checked(inputs, episodes, options, progress).methods;
}

}  // namespace protocom
