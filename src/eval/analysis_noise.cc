#include "eval/analysis_noise.h"

#include <cmath>

#include "base/error.h"
#include "base/matrix.h"
#include "base/rng.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {
namespace {

void check(const NoiseOptions& options) {
  if (options.draws < 1) fail_usage("draws of the noise: expected at least 1, found {}", options.draws);
  for (const double gamma : options.gammas) {
    if (!(gamma >= 0.0 && gamma <= 1.0)) fail_usage("noise level: expected a number in [0, 1], found {}", gamma);
  }
}

/// The accuracies of methods at one level: an episode's is the mean over draws.
struct AtLevel {
  std::vector<MethodScores> scores;
  std::vector<std::vector<double>> per_draw;  // per method, the means over episodes
};

void add_draw(const std::vector<MethodScores>& drawn, int64_t draws, AtLevel& level) {
  level.scores.resize(drawn.size());
  level.per_draw.resize(drawn.size());
  for (size_t m = 0; m < drawn.size(); ++m) {
    MethodScores& sum = level.scores[m];
    sum.method = drawn[m].method;
    sum.mode = drawn[m].mode;
    sum.accuracy.resize(drawn[m].accuracy.size());
    for (size_t i = 0; i < sum.accuracy.size(); ++i)
      sum.accuracy[i] += drawn[m].accuracy[i] / static_cast<double>(draws);
    level.per_draw[m].push_back(estimate(drawn[m].accuracy).value);
  }
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  return estimate(values).ci95 / 1.96 * std::sqrt(static_cast<double>(values.size()));
}

/// Returns the mean of the nonzero weights; 1 if there is none.
float mean_weight(const Array& association) {
  const auto* weight = association.data<float>();
  double sum = 0;
  int64_t present = 0;
  for (int64_t i = 0; i < association.numel(); ++i) {
    if (!(weight[i] > 0)) continue;
    sum += static_cast<double>(weight[i]);
    ++present;
  }
  return present == 0 ? 1.0F : static_cast<float>(sum / static_cast<double>(present));
}

KnowledgeTable misled(KnowledgeTable knowledge, double gamma, uint64_t seed, const NoiseOptions& options) {
  const Array noisy = noisy_association(knowledge.association, gamma, seed);
  if (options.embedding_change) {
    const Array change =
        options.embedding_change(array_of_matrix(matrix_of<float>(noisy) - matrix_of<float>(knowledge.association)));
    knowledge.class_embedding = array_of_matrix(matrix_of<float>(knowledge.class_embedding) + matrix_of<float>(change));
  }
  knowledge.association = noisy;
  return knowledge;
}

AtLevel scores_at(const AnalysisInputs& inputs, const EpisodeList& list, double gamma, const NoiseOptions& options,
                  Progress& progress) {
  AtLevel level;
  const int64_t draws = gamma == 0.0 ? 1 : options.draws;
  for (int64_t draw = 0; draw < draws; ++draw) {
    const uint64_t seed = list.seed * 1000003U + static_cast<uint64_t>(draw);
    const KnowledgeTable wrong = misled(*inputs.data.knowledge, gamma, seed, options);
    KnowledgeTable aligned;
    AnalysisInputs wrongly_told = inputs;
    wrongly_told.data.knowledge = &wrong;
    if (inputs.data.model != nullptr) {
      aligned = align_knowledge(wrong, inputs.data.features.class_names, inputs.data.model->attributes);
      wrongly_told.data.classes = &aligned;
    }
    add_draw(evaluate(wrongly_told, list, progress), draws, level);
  }
  return level;
}

}  // namespace

Array noisy_association(const Array& association, double gamma, uint64_t seed) {
  Array noisy = association.copy();
  const float given = mean_weight(association);
  Rng rng(seed);
  auto* weight = noisy.mutable_data<float>();
  for (int64_t i = 0; i < noisy.numel(); ++i) {
    if (rng.uniform() < gamma) weight[i] = weight[i] > 0.0F ? 0.0F : given;
  }
  return noisy;
}

std::vector<SeriesPoint> accuracy_by_noise(const AnalysisInputs& inputs, const EpisodeOptions& episodes,
                                           const NoiseOptions& options, Progress& progress) {
  check(options);
  if (inputs.data.knowledge == nullptr) fail_usage("the analysis of wrong knowledge needs knowledge of the classes");
  const EpisodeList list = sample_episodes(inputs.data.features, episodes);
  std::vector<SeriesPoint> points;
  std::vector<MethodScores> first;
  for (const double gamma : options.gammas) {
    const AtLevel level = scores_at(inputs, list, gamma, options, progress);
    if (first.empty()) first = level.scores;
    append_points(inputs, gamma, level.scores, points);
    for (size_t m = 0; m < first.size(); ++m) {
      SeriesPoint& point = points[points.size() - first.size() + m];
      point.spread = standard_deviation(level.per_draw[m]);
      point.change = paired_difference(level.scores[m].accuracy, first[m].accuracy);
    }
  }
  return points;
}

}  // namespace protocom
