// Measures how fast packed pixels become augmented batches: by one worker thread as in pre-training, and a whole batch
// at once.
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "trainers/detail/augment_batch.h"
#include "trainers/detail/batch_loader.h"

namespace protocom {
namespace {

constexpr int64_t kImages = 512;
constexpr int64_t kBatch = 64;

at::Tensor some_pixels(int64_t size) { return at::randint(0, 256, {kImages, size, size, 3}, at::kByte); }

void batches_of_a_worker(benchmark::State& state) {
  std::vector<int64_t> rows(kImages), labels(kImages, 0);
  for (int64_t i = 0; i < kImages; ++i) rows[static_cast<size_t>(i)] = i;
  BatchLoaderOptions options;
  options.batch = kBatch;
  BatchLoader loader(some_pixels(state.range(0)), rows, labels, options);
  int64_t epoch = 0;
  for (auto _ : state) {
    loader.start(epoch++);
    while (auto batch = loader.next()) benchmark::DoNotOptimize(batch->pixels.data_ptr());
  }
  state.SetItemsProcessed(state.iterations() * kImages);
}
BENCHMARK(batches_of_a_worker)->Arg(32)->Arg(84)->UseRealTime()->Unit(benchmark::kMillisecond);

void batch_at_once(benchmark::State& state) {
  const at::Tensor pixels = some_pixels(state.range(0));
  Rng rng(1);
  std::vector<AugmentDraw> draws;
  for (int64_t i = 0; i < kBatch; ++i) draws.push_back(draw_augmentation({}, state.range(0), rng));
  const AugmentDraws stacked = stack_draws(draws);
  const at::Tensor rows = at::arange(kBatch, at::kLong);
  for (auto _ : state) benchmark::DoNotOptimize(augment_batch(pixels, rows, stacked).data_ptr());
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(batch_at_once)->Arg(32)->Arg(84)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace protocom

BENCHMARK_MAIN();
