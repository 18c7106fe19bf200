#include "eval/analysis_open_set.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/to_whole.h"
#include "eval/analysis_queries.h"
#include "eval/detail/episode_rows.h"
#include "eval/detail/prepared_context.h"
#include "fewshot/scorer_group.h"

namespace protocom {
namespace {

constexpr double kRecall = 0.95;
constexpr int64_t kTogether = 16;  ///< episodes scored together

/// The answers of one method for all queries.
struct Answers {
  std::vector<double> given;   ///< scores for queries of the given classes
  std::vector<double> others;  ///< scores for queries of the others
  std::vector<double> accuracy;
  std::vector<Prediction> answers;  ///< -1 means "none", also as truth of the others
  bool knows_none = false;
};

/// Returns the episodes with the supports of their first `given` classes and the queries of all classes.
EpisodeList without_others(EpisodeList list, int64_t given) {
  for (Episode& episode : list.episodes) {
    episode.classes.resize(static_cast<size_t>(given));
    episode.support.resize(static_cast<size_t>(given));
  }
  list.shape.n_way = given;
  return list;
}

/// Returns the softmax of a row, followed by P(none) if there is a logit for it.
std::vector<double> probabilities(const float* logits, int64_t n, const float* unseen) {
  double most = *std::max_element(logits, logits + n);
  if (unseen != nullptr) most = std::max(most, static_cast<double>(*unseen));
  std::vector<double> p;
  for (int64_t c = 0; c < n; ++c) p.push_back(std::exp(logits[c] - most));
  if (unseen != nullptr) p.push_back(std::exp(*unseen - most));
  double sum = 0;
  for (const double value : p) sum += value;
  for (double& value : p) value /= sum;
  return p;
}

void take(const EpisodeScores& scores, int64_t given_queries, int64_t each, Answers& to) {
  const int64_t q = scores.logits.size(1), n = scores.logits.size(2);
  const auto* logits = scores.logits.data<float>();
  const float* unseen = scores.unseen.defined() ? scores.unseen.data<float>() : nullptr;
  to.knows_none = unseen != nullptr;
  for (int64_t e = 0; e < scores.logits.size(0); ++e) {
    int64_t right = 0;
    for (int64_t i = 0; i < q; ++i) {
      const int64_t place = e * q + i;
      const float* none = unseen != nullptr ? unseen + place : nullptr;
      const auto p = probabilities(logits + place * n, n, none);
      const auto best = std::max_element(p.begin(), p.begin() + n);
      const auto answer = std::max_element(p.begin(), p.end());
      const int64_t truth = i < given_queries ? i / each : -1;
      (truth >= 0 ? to.given : to.others).push_back(none != nullptr ? 1 - p.back() : *best);
      right += best - p.begin() == truth ? 1 : 0;
      Prediction prediction;
      prediction.true_class = truth;
      prediction.predicted = answer - p.begin() == n ? -1 : answer - p.begin();
      prediction.probability = static_cast<float>(*answer);
      to.answers.push_back(prediction);
    }
    to.accuracy.push_back(100.0 * static_cast<double>(right) / static_cast<double>(given_queries));
  }
}

std::vector<Answers> run(const ScorerGroup& group, size_t methods, const EpisodeList& list, Progress& progress) {
  std::vector<Answers> all(methods);
  const int64_t each = list.shape.n_query;
  progress.start("open set", static_cast<int64_t>(list.episodes.size()));
  for (size_t begin = 0; begin < list.episodes.size(); begin += kTogether) {
    std::vector<size_t> numbers;
    for (size_t i = begin; i < std::min(begin + kTogether, list.episodes.size()); ++i) numbers.push_back(i);
    RowBatch rows = rows_of(list, numbers);
    rows.shares.clear();  // the others have queries too
    const auto scores = group.score(rows);
    for (size_t m = 0; m < methods; ++m) take(scores[m], list.shape.n_way * each, each, all[m]);
    progress.advance(static_cast<int64_t>(numbers.size()), "");
  }
  progress.finish();
  return all;
}

/// Returns for each of `scores` the probability that it exceeds one of `others`; ties count half.
std::vector<double> placements(const std::vector<double>& scores, std::vector<double> others) {
  std::sort(others.begin(), others.end());
  std::vector<double> chances;
  for (const double value : scores) {
    const auto [low, high] = std::equal_range(others.begin(), others.end(), value);
    const double above = static_cast<double>(low - others.begin()) + 0.5 * static_cast<double>(high - low);
    chances.push_back(above / static_cast<double>(others.size()));
  }
  return chances;
}

/// Returns the mean of each task; all tasks have equally many values.
std::vector<double> means_of_tasks(const std::vector<double>& values, size_t tasks) {
  const size_t each = values.size() / tasks;
  std::vector<double> means(tasks);
  for (size_t i = 0; i < tasks * each; ++i) means[i / each] += values[i] / static_cast<double>(each);
  return means;
}

}  // namespace

Estimate area_under_curve(const std::vector<double>& positive, const std::vector<double>& negative, size_t tasks) {
  if (positive.empty() || negative.empty()) fail("a ROC curve needs scores of known and of unknown images");
  const auto above = means_of_tasks(placements(positive, negative), tasks);
  auto below = means_of_tasks(placements(negative, positive), tasks);  // the probability to be below a positive one
  double area = 0;
  for (const double value : above) area += value / static_cast<double>(tasks);
  for (size_t i = 0; i < tasks; ++i) below[i] = above[i] + (1 - below[i]) - area;
  return estimate(below);
}

EpisodeOptions with_others(const OpenSetOptions& options, int64_t shots) {
  EpisodeOptions drawn = options.episodes;
  drawn.shape.k_shot = shots;
  drawn.shape.n_way += options.others;
  return drawn;
}

double accepted_at_recall(std::vector<double> positive, const std::vector<double>& negative, double recall) {
  if (positive.empty() || negative.empty()) fail("a false-accept rate needs scores of known and of unknown images");
  std::sort(positive.begin(), positive.end());
  const auto rejected = to_whole<size_t>((1 - recall) * static_cast<double>(positive.size()) + 1e-9);
  const double threshold = positive[rejected];
  const auto accepted = std::count_if(negative.begin(), negative.end(), [&](double s) { return s >= threshold; });
  return static_cast<double>(accepted) / static_cast<double>(negative.size());
}

std::vector<OpenSetResult> analyse_open_set(const EvaluateInputs& inputs, const Methods& methods,
                                            const OpenSetOptions& options, Progress& progress) {
  if (options.others < 1) fail_usage("at least one class that is not given is needed, found {}", options.others);
  const PreparedContext known(inputs, methods);
  std::vector<OpenSetResult> results;
  for (const int64_t shots : options.shots) {
    const Methods here = able_with(methods, shots);
    if (here.empty()) continue;
    const ScorerGroup group(here, known.context(), inputs.features.features);
    const EpisodeOptions drawn = with_others(options, shots);
    const EpisodeList list = without_others(sample_episodes(inputs.features, drawn), options.episodes.shape.n_way);
    const auto answers = run(group, here.size(), list, progress);
    for (size_t m = 0; m < here.size(); ++m) {
      const Answers& own = answers[m];
      const Estimate area = area_under_curve(own.given, own.others, list.episodes.size());
      results.push_back({here[m]->label(), mode_of(here[m]->spec(), list.shape), static_cast<double>(shots),
                         own.knows_none, estimate(own.accuracy), area.value,
                         100.0 * accepted_at_recall(own.given, own.others, kRecall),
                         reliability_curve(own.answers).expected_error, area.ci95});
    }
  }
  return results;
}

}  // namespace protocom
