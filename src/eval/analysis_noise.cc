#include "protocom/eval/analysis_noise.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "protocom/core/error.h"
#include "protocom/core/rng.h"

namespace protocom {
namespace {

void check(const NoiseOptions& options) {
  if (options.draws < 1) fail_usage("the noise must be drawn at least once, found {} draws", options.draws);
  for (const double gamma : options.gammas) {
    if (!(gamma >= 0.0 && gamma <= 1.0)) fail_usage("a noise level must lie in [0, 1], found {}", gamma);
  }
}

/// The accuracies of one method at one level, summed over draws.
struct Pooled {
  std::string method;
  std::string mode;
  std::vector<double> per_episode;  // mean over draws
  std::vector<double> per_draw;     // mean over episodes
};

void add_draw(const std::vector<double>& accuracy, int64_t draws, Pooled& pooled) {
  pooled.per_episode.resize(accuracy.size());
  for (size_t i = 0; i < accuracy.size(); ++i) pooled.per_episode[i] += accuracy[i] / static_cast<double>(draws);
  pooled.per_draw.push_back(estimate(accuracy).value);
}

double std_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  return estimate(values).ci95 / 1.96 * std::sqrt(static_cast<double>(values.size()));
}

template <typename T>
std::optional<T> copy_of(const T* given) {
  return given == nullptr ? std::nullopt : std::optional<T>(*given);
}

/// Knowledge with a noisy association.
template <typename T>
const T& mislead(T& knowledge, double gamma, uint64_t seed) {
  knowledge.association = noisy_association(knowledge.association, gamma, seed);
  return knowledge;
}

std::vector<Pooled> scores_at(const AnalysisInputs& inputs, const EpisodeList& list, double gamma, int64_t draws,
                              Progress& progress) {
  std::vector<Pooled> pooled(inputs.methods.size());
  for (int64_t draw = 0; draw < draws; ++draw) {
    const uint64_t seed = list.seed * 1000003U + static_cast<uint64_t>(draw);
    AnalysisInputs misled = inputs;
    std::optional<ClassKnowledge> wrong = copy_of(inputs.data.classes);
    std::optional<KnowledgeTable> wrong_table = copy_of(inputs.data.knowledge);
    if (wrong) misled.data.classes = &mislead(*wrong, gamma, seed);
    if (wrong_table) misled.data.knowledge = &mislead(*wrong_table, gamma, seed);
    const auto scores = evaluate(misled, list, progress);
    for (size_t m = 0; m < scores.size(); ++m) {
      pooled[m].method = scores[m].method;
      pooled[m].mode = scores[m].mode;
      add_draw(scores[m].accuracy, draws, pooled[m]);
    }
  }
  return pooled;
}

}  // namespace

at::Tensor noisy_association(const at::Tensor& association, double gamma, uint64_t seed) {
  const at::NoGradGuard no_grad;
  at::Tensor noisy = association.clone().contiguous();
  const at::Tensor present = association.masked_select(association.gt(0));
  const float given = present.numel() == 0 ? 1.0F : present.mean().item<float>();
  Rng rng(seed);
  float* weight = noisy.data_ptr<float>();
  for (int64_t i = 0; i < noisy.numel(); ++i) {
    if (rng.uniform() < gamma) weight[i] = weight[i] > 0.0F ? 0.0F : given;
  }
  return noisy;
}

std::vector<SeriesPoint> accuracy_by_noise(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const NoiseOptions& options, Progress& progress) {
  check(options);
  const EpisodeList list = sample_episodes(inputs.data.features, episodes);
  std::vector<SeriesPoint> points;
  for (const double gamma : options.gammas) {
    const auto pooled = scores_at(inputs, list, gamma, gamma == 0.0 ? 1 : options.draws, progress);
    const auto baseline =
        std::find_if(pooled.begin(), pooled.end(), [&](const Pooled& one) { return one.method == inputs.baseline; });
    const Pooled& compared = baseline == pooled.end() ? pooled.front() : *baseline;
    for (const Pooled& one : pooled) {
      points.push_back({gamma, one.method, one.mode, estimate(one.per_episode),
                        paired_difference(one.per_episode, compared.per_episode), std_of(one.per_draw)});
    }
  }
  return points;
}

}  // namespace protocom
