// The method on features of Tiny-ImageNet-100's sizes. Targets: 25,000 completion steps (100 epochs of 250) in under 10
// minutes; 5,000 episodes/s by all four methods and 10,000 episodes in under 2 s, on 2 cores. The values are random:
// time does not depend on them. peers/evaluate_against_peer times the whole program against a plain PyTorch one.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>

#include <chrono>

#include "base/rng.h"
#include "base/threads.h"
#include "eval/evaluate.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/row_kernels.h"
#include "fewshot/scorer_group.h"
#include "fewshot/vector_form.h"
#include "heads/paper_training.h"
#include "tensors/tensors.h"
#include "training/complete.h"

namespace protocom {
namespace {

constexpr int64_t kClasses = 100;
constexpr int64_t kImages = 250;  // per class
constexpr int64_t kDim = 512;
constexpr int64_t kAttributes = 219;
constexpr double kAttributesPerClass = 9.3;

FeatureSet random_features() {
  FeatureSet set;
  set.features = array_of(at::rand({kClasses * kImages, kDim}));
  set.labels = numbers_of(at::arange(kClasses).repeat_interleave(kImages));
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
  knowledge.association =
      array_of(at::rand({kClasses, kAttributes}).lt(kAttributesPerClass / kAttributes).to(at::kFloat));
  knowledge.class_embedding = array_of(at::randn({kClasses, 50}));
  knowledge.attribute_embedding = array_of(at::randn({kAttributes, 50}));
  return knowledge;
}

/// Returns 5-way 1-shot episodes of 75 queries, of the novel classes.
RowBatch random_rows(int64_t episodes, Rng& rng) {
  RowBatch rows;
  rows.n = 5;
  rows.k = 1;
  rows.q = 75;
  for (int64_t e = 0; e < episodes; ++e) {
    rows.seed.push_back(0);
    for (const int64_t label : rng.sample(20, rows.n)) {
      rows.classes.push_back(80 + label);
      const auto drawn = rng.sample(kImages, 16);
      rows.support.push_back((80 + label) * kImages + drawn[0]);
      for (size_t i = 1; i < drawn.size(); ++i) rows.query.push_back((80 + label) * kImages + drawn[i]);
    }
  }
  return rows;
}

CompleteRecipe steps(int64_t count) {
  CompleteRecipe options;
  options.schedule.epochs = 1;
  options.batches = count;
  options.validation.episodes = 0;
  return options;
}

void completion_steps(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  constexpr int64_t kSteps = 250;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        train_completion({features, knowledge}, steps(kSteps), {}, Progress::none()).epochs.back().loss);
  }
  state.counters["minutes_for_25000_steps"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 60.0 / 100.0,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(completion_steps)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Draws and evaluates, without reading files. With 10,000 episodes nearly every support row occurs several times and
/// is completed once.
void episodes_by_four_methods(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  const CompletionModel model = train_completion({features, knowledge}, steps(1), {}, Progress::none()).model;
  const KnowledgeTable classes = align_knowledge(knowledge, features.class_names, model.attributes);
  const EpisodeShape shape{5, state.range(2), 15};
  for (auto _ : state) {
    const EpisodeList episodes = sample_episodes(features, {Split::kNovel, shape, state.range(1), 1});
    benchmark::DoNotOptimize(evaluate({features, &model, &classes}, episodes, {}, Progress::none()));
  }
  state.counters["episodes_per_second"] = benchmark::Counter(
      static_cast<double>(state.range(1)) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(episodes_by_four_methods)
    ->ArgNames({"threads", "episodes", "shots"})
    ->Args({1, 600, 1})
    ->Args({1, 10000, 1})
    ->Args({2, 10000, 1})
    ->Args({1, 10000, 5})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Returns episodes of full classes as tensors.
EpisodeBatch batch_of(const at::Tensor& table, const RowBatch& rows) {
  const auto select = [&](const std::vector<int64_t>& from, at::IntArrayRef sizes) {
    return table.index_select(0, at::tensor(from, at::kLong)).view(sizes);
  };
  const int64_t b = rows.size(), d = table.size(1);
  EpisodeBatch batch;
  batch.support = select(rows.support, {b, rows.n, rows.k, d});
  batch.query = select(rows.query, {b, rows.q, d});
  batch.classes = at::tensor(rows.classes, at::kLong).view({b, rows.n});
  return batch;
}

/// The four rows as batched tensors, 16 episodes at once on one thread: the reference for the hand-written form of
/// ScorerGroup (form 1; form 0 are the tensors).
void four_rows_of_16_episodes(benchmark::State& state) {
  set_threads(1);
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  const CompletionModel model = train_completion({features, knowledge}, steps(1), {}, Progress::none()).model;
  const KnowledgeTable classes = align_knowledge(knowledge, features.class_names, model.attributes);
  MethodContext context;
  context.model = &model;
  context.classes = &classes;
  const Methods methods = make_methods(paper_rows());
  const ScorerGroup group(methods, context, features.features);
  const CompletePrototypes complete = complete_by(model, classes);
  const at::Tensor table = tensor_of(features.features), gamma = at::full({1}, model.gamma);
  const at::NoGradGuard no_grad;
  Rng rng(1);
  for (auto _ : state) {
    const RowBatch rows = random_rows(16, rng);
    if (state.range(0) == 1) {
      benchmark::DoNotOptimize(group.score(rows));
      continue;
    }
    const EpisodeBatch batch = batch_of(table, rows);
    for (const auto& method : methods) benchmark::DoNotOptimize(paper_row_scores(*method, batch, complete, gamma));
  }
  state.counters["episodes_per_second"] =
      benchmark::Counter(16.0 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(four_rows_of_16_episodes)->ArgName("form")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond)->UseRealTime();

std::shared_ptr<Method> fitted_plda(const FeatureSet& features, const Knowledge& knowledge) {
  std::shared_ptr<Method> method = make_method("plda");
  const int64_t base = 64 * kImages;
  const int64_t val = 16 * kImages;
  const auto part = [&](int64_t from, int64_t rows) {
    const auto first = features.labels.begin() + from;
    return LabelledFeatures{features.features.rows(from, from + rows), {first, first + rows}};
  };
  method->fit({part(0, base), part(base, val), &knowledge, &features.class_names});
  return method;
}

/// A layer whose weights fit into the first-level cache: the most that one core can compute.
class FirstCacheLayer {
 public:
  static constexpr int64_t kRows = 200;
  static constexpr int64_t kDepth = 128;
  static constexpr double kMultiplyAdds = kRows * kDepth * kPanelWidth;

  void run() {
    dense_rows(
        {in_.data_ptr<float>(), kDepth, kRows, kDepth, weight_.data_ptr<float>(), bias_.data_ptr<float>(), kPanelWidth},
        out_.data_ptr<float>());
    benchmark::ClobberMemory();
  }
  /// Returns floating-point operations per second, over a tenth of a second.
  double flops() {
    const auto began = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    double runs = 0;
    for (; seconds() < 0.1; ++runs) run();
    return 2 * kMultiplyAdds * runs / seconds();
  }

 private:
  at::Tensor in_ = at::rand({kRows, kDepth});
  at::Tensor weight_ = at::rand({kDepth, kPanelWidth});
  at::Tensor bias_ = at::zeros({kPanelWidth});
  at::Tensor out_ = at::empty({kRows, kPanelWidth});
};

/// The Bayesian model: 20 steps on 5 classes, 1 labelled image each and 75 queries. Targets: 20,000 episodes/s by
/// `plda` (method 0) and 3,000 by `plda-vb` (1; balanced: 2) on 2 cores. The counters have the operations required;
/// share_of_limit is their ratio to what FirstCacheLayer computes at the end of the same run on as many cores.
void bayesian_episodes(benchmark::State& state) {
  set_threads(1);
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  const auto plda = fitted_plda(features, knowledge);
  Methods methods = {plda};
  if (state.range(0) > 0) {
    std::shared_ptr<Method> vb = make_method(state.range(0) == 1 ? "plda-vb" : "plda-vb:proportions=balanced");
    vb->load(plda->state());
    methods = {vb};
  }
  MethodContext context;
  context.knowledge = &knowledge;
  context.class_names = &features.class_names;
  const ScorerGroup group(methods, context, features.features);
  Rng rng(1);
  for (int i = 0; i < 50; ++i) benchmark::DoNotOptimize(group.score(random_rows(16, rng)));  // maps the table
  for (auto _ : state) benchmark::DoNotOptimize(group.score(random_rows(16, rng)));
  const auto episodes = 16.0 * static_cast<double>(state.iterations());
  state.counters["episodes_per_second"] = benchmark::Counter(episodes, benchmark::Counter::kIsRate);
  constexpr double kQueries = 75;
  constexpr double kWays = 5;
  constexpr double kOwn = 64;  // dimensions with variances of their own
  const double steps = 21 * kWays * (2 * kQueries * kOwn + kQueries * kQueries);
  const double products = kQueries * (kQueries + kWays) * (kDim - kOwn);
  const double multiply_adds = state.range(0) == 0 ? kQueries * kWays * (kDim + kOwn) : products + steps;
  state.counters["flops"] = benchmark::Counter(2 * multiply_adds * episodes, benchmark::Counter::kIsRate);
  state.counters["bytes"] =
      benchmark::Counter((kQueries + kWays) * (kDim + 80) * sizeof(float) * episodes, benchmark::Counter::kIsRate);
  state.counters["share_of_limit"] =
      benchmark::Counter(2 * multiply_adds * episodes / FirstCacheLayer().flops(),
                         benchmark::Counter::Flags(benchmark::Counter::kIsRate | benchmark::Counter::kAvgThreads));
}
BENCHMARK(bayesian_episodes)
    ->ArgName("method")
    ->DenseRange(0, 2)
    ->ThreadRange(1, 2)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

/// Target: under 5 s for 32,000 features of 512 dimensions on 2 cores, including reading them.
void fit_of_the_bayesian_model(benchmark::State& state) {
  set_threads(static_cast<int>(state.range(0)));
  const FeatureSet features = random_features();
  const Knowledge knowledge = random_knowledge(features);
  for (auto _ : state) benchmark::DoNotOptimize(fitted_plda(features, knowledge));
}
BENCHMARK(fit_of_the_bayesian_model)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// The limit of an episode: what must be computed and read. Rows are drawn again each time from 10 MB, as in an
/// evaluation.
struct EpisodeRows {
  static constexpr int64_t kQueries = 75;
  static constexpr int64_t kPrototypes = 10;

  EpisodeRows() : features(at::rand({5000, kDim})), prototypes(at::rand({kPrototypes, kDim})), rows(kQueries) {}
  void draw() {
    for (auto& row : rows) row = features.data_ptr<float>() + rng.below(features.size(0)) * kDim;
  }

  at::Tensor features;
  at::Tensor prototypes;
  std::vector<const float*> rows;
  Rng rng{1};
};

void count(benchmark::State& state, double multiply_adds, double bytes) {
  const auto runs = static_cast<double>(state.iterations());
  state.counters["flops"] = benchmark::Counter(2 * multiply_adds * runs, benchmark::Counter::kIsRate);
  state.counters["bytes"] = benchmark::Counter(bytes * runs, benchmark::Counter::kIsRate);
  state.SetLabel(vector_form_name());
}

constexpr double kProduct = EpisodeRows::kQueries * EpisodeRows::kPrototypes * kDim;  ///< multiply-adds
constexpr double kRowBytes = EpisodeRows::kQueries * kDim * sizeof(float);

/// Multiplies the queries with the means and the completed prototypes, from wherever the rows lie.
void queries_by_prototypes(benchmark::State& state) {
  EpisodeRows episode;
  at::Tensor dots = at::empty({EpisodeRows::kQueries, EpisodeRows::kPrototypes});
  for (auto _ : state) {
    episode.draw();
    row_dots({episode.rows.data(), EpisodeRows::kQueries, episode.prototypes.data_ptr<float>(),
              EpisodeRows::kPrototypes, kDim, EpisodeRows::kPrototypes},
             dots.data_ptr<float>());
    benchmark::ClobberMemory();
  }
  count(state, kProduct, kRowBytes);
}
BENCHMARK(queries_by_prototypes);

/// Computes equations 13 and 14 for both Gaussians of five classes, with rows in the second-level cache after
/// queries_by_prototypes.
void weighted_moments(benchmark::State& state) {
  EpisodeRows episode;
  episode.draw();
  const at::Tensor weights = at::rand({EpisodeRows::kQueries, EpisodeRows::kPrototypes});
  at::Tensor sum = at::zeros({EpisodeRows::kPrototypes, kDim});
  at::Tensor squares = at::zeros({EpisodeRows::kPrototypes, kDim});
  for (auto _ : state) {
    protocom::weighted_moments(
        {episode.rows.data(), EpisodeRows::kQueries, weights.data_ptr<float>(), EpisodeRows::kPrototypes, kDim},
        sum.data_ptr<float>(), squares.data_ptr<float>());
    benchmark::ClobberMemory();
  }
  count(state, 2 * kProduct, kRowBytes);
}
BENCHMARK(weighted_moments);

void most_flops_of_a_core(benchmark::State& state) {
  FirstCacheLayer layer;
  for (auto _ : state) layer.run();
  count(state, FirstCacheLayer::kMultiplyAdds, 0);
}
BENCHMARK(most_flops_of_a_core);

}  // namespace
}  // namespace protocom

BENCHMARK_MAIN();
