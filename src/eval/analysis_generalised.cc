#include "eval/analysis_generalised.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "eval/detail/episode_rows.h"
#include "eval/detail/prepared_context.h"
#include "fewshot/scorer_group.h"

namespace protocom {
namespace {

/// Returns an episode with the base classes appended to its own; queries of base classes follow those of novel ones.
Episode with_base(Episode episode, const FeatureSet& features, const std::vector<std::vector<int64_t>>& rows,
                  const GeneralisedOptions& options, Rng rng) {
  const auto base = features.classes_of(Split::kBase);
  const auto many = static_cast<int64_t>(base.size());
  const auto asked = rng.sample(many, std::min(options.episodes.shape.n_way, many));
  for (int64_t c = 0; c < many; ++c) {
    const auto& own = rows[static_cast<size_t>(base[static_cast<size_t>(c)])];
    const int64_t queries =
        std::find(asked.begin(), asked.end(), c) == asked.end() ? 0 : options.episodes.shape.n_query;
    const auto images = static_cast<int64_t>(own.size());
    if (images < options.base_shots + options.episodes.shape.n_query) {
      fail("base class '{}' has {} images, {} shots and {} queries need more",
           features.class_names[static_cast<size_t>(base[static_cast<size_t>(c)])], images, options.base_shots,
           options.episodes.shape.n_query);
    }
    std::vector<int64_t> drawn = rng.sample(images, options.base_shots + queries);
    for (int64_t& row : drawn) row = own[static_cast<size_t>(row)];
    episode.classes.push_back(base[static_cast<size_t>(c)]);
    episode.support.emplace_back(drawn.begin(), drawn.begin() + options.base_shots);
    episode.query.emplace_back(drawn.begin() + options.base_shots, drawn.end());
  }
  return episode;
}

/// The outcome of a query: whether its own class is the best of its kind (novel or base), and the margin of the best
/// novel class over the best base class.
struct QueryOutcome {
  bool is_novel = false;
  bool wins_its_kind = false;
  float novel_lead = 0;
};

std::vector<QueryOutcome> outcomes(const EpisodeScores& scores, const Episode& episode, int64_t novel) {
  const int64_t n = scores.logits.size(2);
  const auto* logits = scores.logits.data<float>();  // [1, q, n]
  std::vector<QueryOutcome> all;
  for (size_t c = 0; c < episode.classes.size(); ++c) {
    const bool is_novel = static_cast<int64_t>(c) < novel;
    const int64_t place = static_cast<int64_t>(c) - (is_novel ? 0 : novel);
    for (size_t i = 0; i < episode.query[c].size(); ++i, logits += n) {
      const float* best_novel = std::max_element(logits, logits + novel);
      const float* best_base = std::max_element(logits + novel, logits + n);
      const int64_t won = is_novel ? best_novel - logits : best_base - (logits + novel);
      all.push_back({is_novel, won == place, *best_novel - *best_base});
    }
  }
  return all;
}

/// Returns the percentages of correct answers among the queries of novel and of base classes, with `offset` added to
/// the logits of novel classes.
std::pair<double, double> accuracies(const std::vector<QueryOutcome>& outcomes, double offset) {
  std::pair<double, double> right;
  std::pair<double, double> all;
  for (const QueryOutcome& verdict : outcomes) {
    const bool right_kind = (verdict.novel_lead + offset >= 0) == verdict.is_novel;
    (verdict.is_novel ? right.first : right.second) += right_kind && verdict.wins_its_kind ? 1 : 0;
    (verdict.is_novel ? all.first : all.second) += 1;
  }
  return {100 * right.first / all.first, 100 * right.second / all.second};
}

double harmonic_mean(double a, double b) { return a + b > 0 ? 2 * a * b / (a + b) : 0; }

using Episodes = std::vector<std::vector<QueryOutcome>>;

GeneralisedAccuracy accuracy_of(const Episodes& episodes, double offset) {
  std::vector<double> novel, base, harmonic;
  for (const auto& episode : episodes) {
    const auto [own, other] = accuracies(episode, offset);
    novel.push_back(own);
    base.push_back(other);
    harmonic.push_back(harmonic_mean(own, other));
  }
  return {estimate(novel), estimate(base), estimate(harmonic)};
}

/// Returns the offset with the best harmonic mean, among the quantiles of the offsets that would just change a query's
/// kind.
double best_offset(const Episodes& episodes) {
  constexpr size_t kTries = 100;
  std::vector<float> leads;
  for (const auto& episode : episodes) {
    for (const QueryOutcome& verdict : episode) leads.push_back(-verdict.novel_lead);
  }
  std::sort(leads.begin(), leads.end());
  std::pair<double, double> best{accuracy_of(episodes, 0).harmonic.value, 0};
  for (size_t i = 0; i < kTries; ++i) {
    const double offset = leads[i * (leads.size() - 1) / (kTries - 1)];
    best = std::max(best, {accuracy_of(episodes, offset).harmonic.value, offset});
  }
  return best.second;
}

/// Runs episodes with one number of shots; returns those of each method.
std::vector<Episodes> run(const ScorerGroup& group, size_t methods, const EvaluateInputs& inputs,
                          const GeneralisedOptions& options, Progress& progress) {
  const auto rows_by_class = inputs.features.rows_by_class();
  EpisodeList list = sample_episodes(inputs.features, options.episodes);
  std::vector<Episodes> all(methods);
  progress.start(fmt::format("generalised, {}", to_string(options.episodes.split)),
                 static_cast<int64_t>(list.episodes.size()));
  for (size_t i = 0; i < list.episodes.size(); ++i) {
    list.episodes[i] = with_base(std::move(list.episodes[i]), inputs.features, rows_by_class, options,
                                 Rng(options.episodes.seed).fork(i).fork(1));
    const auto scores = group.score(rows_of(list, {i}));
    for (size_t m = 0; m < methods; ++m)
      all[m].push_back(outcomes(scores[m], list.episodes[i], options.episodes.shape.n_way));
    progress.advance(1, "");
  }
  progress.finish();
  return all;
}

/// Returns the number of images of the smallest of these classes.
int64_t fewest_images(const FeatureSet& features, const std::vector<int64_t>& classes) {
  const auto rows = features.rows_by_class();
  int64_t fewest = features.size();
  for (const int64_t c : classes) fewest = std::min(fewest, static_cast<int64_t>(rows[static_cast<size_t>(c)].size()));
  return fewest;
}

/// Returns options for episodes of val classes instead of novel ones, smaller if val has less; nothing if it has too
/// little, or is the split measured.
std::optional<GeneralisedOptions> of_val(const FeatureSet& features, GeneralisedOptions options) {
  constexpr int64_t kEpisodes = 200;
  const auto classes = features.classes_of(Split::kVal);
  if (classes.size() < 2 || options.episodes.split == Split::kVal) return std::nullopt;
  EpisodeShape& shape = options.episodes.shape;
  shape.n_way = std::min(shape.n_way, static_cast<int64_t>(classes.size()));
  shape.n_query = std::min(shape.n_query, fewest_images(features, classes) - shape.k_shot);
  if (shape.n_query < 1) return std::nullopt;
  options.episodes.split = Split::kVal;
  options.episodes.count = std::min(options.episodes.count, kEpisodes);
  return options;
}

}  // namespace

void to_json(nlohmann::json& object, const GeneralisedResult& result) {
  object = result.accuracy;
  object.update({{"method", result.method}, {"mode", result.mode}, {"shots", result.shots}});
  if (result.corrected) object["corrected"] = *result.corrected;
}

std::vector<GeneralisedResult> analyse_generalised(const EvaluateInputs& inputs, const Methods& methods,
                                                   const GeneralisedOptions& options, Progress& progress) {
  if (inputs.features.classes_of(Split::kBase).empty()) fail("generalised tasks need base classes, found none");
  const PreparedContext known(inputs, methods);
  std::vector<GeneralisedResult> results;
  for (const int64_t shots : options.shots) {
    const Methods here = able_with(methods, shots);
    if (here.empty()) continue;
    const ScorerGroup group(here, known.context(), inputs.features.features);
    GeneralisedOptions drawn = options;
    drawn.episodes.shape.k_shot = shots;
    const auto val = of_val(inputs.features, drawn);
    const auto tuned_on = val ? run(group, here.size(), inputs, *val, progress) : std::vector<Episodes>();
    const auto measured = run(group, here.size(), inputs, drawn, progress);
    for (size_t m = 0; m < here.size(); ++m) {
      results.push_back({here[m]->label(), mode_of(here[m]->spec(), drawn.episodes.shape), static_cast<double>(shots),
                         accuracy_of(measured[m], 0), std::nullopt});
      if (!val) continue;
      const double offset = best_offset(tuned_on[m]);
      results.back().corrected = {offset, accuracy_of(measured[m], offset)};
    }
  }
  return results;
}

}  // namespace protocom
