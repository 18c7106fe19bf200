#include "protocom/eval/analysis_generalised.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "eval/episode_rows.h"
#include "eval/known.h"
#include "protocom/core/error.h"
#include "protocom/core/rng.h"
#include "protocom/fewshot/scorer_group.h"

namespace protocom {
namespace {

/// An episode with the base classes behind its own; queries of base classes follow those of novel ones.
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

/// Percent right among the queries of novel and of base classes.
std::pair<double, double> accuracies(const EpisodeScores& scores, const Episode& episode, int64_t novel) {
  const at::Tensor winner = scores.logits.squeeze(0).argmax(-1).contiguous();
  const int64_t* won = winner.data_ptr<int64_t>();
  std::pair<double, double> right;
  std::pair<double, double> all;
  for (size_t c = 0; c < episode.classes.size(); ++c) {
    const bool is_novel = static_cast<int64_t>(c) < novel;
    for (size_t i = 0; i < episode.query[c].size(); ++i) {
      (is_novel ? right.first : right.second) += *won++ == static_cast<int64_t>(c) ? 1 : 0;
      (is_novel ? all.first : all.second) += 1;
    }
  }
  return {100 * right.first / all.first, 100 * right.second / all.second};
}

double harmonic_mean(double a, double b) { return a + b > 0 ? 2 * a * b / (a + b) : 0; }

Methods able(const Methods& methods, int64_t shots) {
  Methods kept;
  std::copy_if(methods.begin(), methods.end(), std::back_inserter(kept),
               [&](const auto& method) { return method->spec().fewest_shots <= shots; });
  return kept;
}

}  // namespace

std::vector<GeneralisedResult> analyse_generalised(const EvaluateInputs& inputs, const Methods& methods,
                                                   const GeneralisedOptions& options, Progress& progress) {
  const Known known(inputs, methods);
  const auto rows_by_class = inputs.features.rows_by_class();
  const int64_t novel = options.episodes.shape.n_way;
  std::vector<GeneralisedResult> results;
  for (const int64_t shots : options.shots) {
    const Methods here = able(methods, shots);
    if (here.empty()) continue;
    const ScorerGroup group(here, known.context(), inputs.features.features);
    EpisodeOptions drawn = options.episodes;
    drawn.shape.k_shot = shots;
    EpisodeList list = sample_episodes(inputs.features, drawn);
    std::vector<std::vector<double>> figures(3 * here.size());  // novel, base, harmonic of each
    progress.start("generalised", static_cast<int64_t>(list.episodes.size()));
    for (size_t i = 0; i < list.episodes.size(); ++i) {
      list.episodes[i] = with_base(std::move(list.episodes[i]), inputs.features, rows_by_class, options,
                                   Rng(options.episodes.seed).fork(i).fork(1));
      const auto scores = group.score(rows_of(list, {i}));
      for (size_t m = 0; m < here.size(); ++m) {
        const auto [own, base] = accuracies(scores[m], list.episodes[i], novel);
        figures[3 * m].push_back(own);
        figures[3 * m + 1].push_back(base);
        figures[3 * m + 2].push_back(harmonic_mean(own, base));
      }
      progress.advance(1, "");
    }
    progress.finish();
    for (size_t m = 0; m < here.size(); ++m) {
      results.push_back({here[m]->label(), mode_of(here[m]->spec(), drawn.shape), static_cast<double>(shots),
                         estimate(figures[3 * m]), estimate(figures[3 * m + 1]), estimate(figures[3 * m + 2])});
    }
  }
  return results;
}

}  // namespace protocom
