// The method on features of Tiny-ImageNet-100's sizes. Ask: 25,000 completion steps (100 epochs of 250) under 10
// minutes and 600 episodes by all four methods under 2 s, on 2 cores. The values are random: time does not depend on
// them.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "protocom/core/device.h"
#include "protocom/eval/alignment.h"
#include "protocom/eval/evaluate.h"
#include "protocom/train/complete.h"

namespace protocom {
namespace {

constexpr int64_t kClasses = 100;
constexpr int64_t kImages = 250;  // a class
constexpr int64_t kDim = 512;
constexpr int64_t kAttributes = 219;
constexpr double kAttributesPerClass = 9.3;

FeatureSet random_features() {
  FeatureSet set;
  set.features = at::rand({kClasses * kImages, kDim});
  set.labels = at::arange(kClasses).repeat_interleave(kImages);
  for (int64_t k = 0; k < kClasses; ++k) {
    set.class_names.push_back("class" + std::to_string(k));
    set.class_split.push_back(k < 64 ? Split::kBase : k < 80 ? Split::kVal : Split::kNovel);
  }
  for (int64_t i = 0; i < kClasses * kImages; ++i) set.image_ids.push_back(std::to_string(i));
  return set;
}

Knowledge random_knowledge(const FeatureSet& features) {
  Knowledge knowledge;
  knowledge.classes = features.class_names;
  for (int64_t a = 0; a < kAttributes; ++a) knowledge.attributes.push_back("attribute" + std::to_string(a));
  knowledge.association = at::rand({kClasses, kAttributes}).lt(kAttributesPerClass / kAttributes).to(at::kFloat);
  knowledge.class_embedding = at::randn({kClasses, 50});
  knowledge.attribute_embedding = at::randn({kAttributes, 50});
  return knowledge;
}

CompleteOptions steps(int64_t count) {
  CompleteOptions options;
  options.schedule.epochs = 1;
  options.batches = count;
  options.validation_episodes = 0;
  return options;
}

void completion_steps(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  constexpr int64_t kSteps = 250;
  for (auto _ : state) {
    benchmark::DoNotOptimize(train_completion(features, knowledge, steps(kSteps), Progress::none()).epochs.back().loss);
  }
  state.counters["minutes_for_25000_steps"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 60.0 / 100.0,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(completion_steps)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void evaluate_600_episodes_by_four_methods(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  const CompletionModel model = train_completion(features, knowledge, steps(1), Progress::none()).model;
  const ClassKnowledge classes = align_knowledge(knowledge, features.class_names, model.attributes);
  for (auto _ : state) {
    const EpisodeList episodes = sample_episodes(features, Split::kNovel, {5, 1, 15}, 600, 1);
    benchmark::DoNotOptimize(evaluate(features, episodes, &model, &classes, {}, Progress::none()));
  }
  state.counters["episodes_per_second"] =
      benchmark::Counter(600.0 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(evaluate_600_episodes_by_four_methods)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace protocom

BENCHMARK_MAIN();
