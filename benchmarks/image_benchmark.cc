// Measures how fast images become training pixels: decoding with the codec's own down-scaling, resizing, cropping to a
// square.
#include <benchmark/benchmark.h>

#include "images/image.h"

namespace protocom {
namespace {

/// Makes an image as detailed as a photograph: a JPEG of it takes about 2 bits per pixel.
Image make_texture(int64_t height, int64_t width) {
  Image image{height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3))};
  for (int64_t i = 0; i < height * width * 3; ++i) {
    const int64_t x = i / 3 % width;
    const int64_t y = i / 3 / width;
    image.rgb[static_cast<size_t>(i)] =
        static_cast<uint8_t>(((x / 5) * 29 + (y / 7) * 53 + x * y / 40 + i % 3 * 60) & 255);
  }
  return image;
}

void read_square(benchmark::State& state) {
  const std::string bytes = encode_jpeg(make_texture(state.range(0), state.range(1)), 85);
  for (auto _ : state) benchmark::DoNotOptimize(decode_square_image(bytes, {84}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_square)
    ->Args({64, 64})
    ->Args({96, 96})
    ->Args({375, 500})
    ->Args({1536, 2048})
    ->Unit(benchmark::kMicrosecond);

void decode_only(benchmark::State& state) {
  const std::string bytes = encode_jpeg(make_texture(state.range(0), state.range(1)), 85);
  for (auto _ : state) benchmark::DoNotOptimize(decode_image(bytes));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode_only)->Args({64, 64})->Args({96, 96})->Args({375, 500})->Unit(benchmark::kMicrosecond);

void resize_only(benchmark::State& state) {
  const Image image = make_texture(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(resize_and_crop(image, {84}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(resize_only)->Args({64, 64})->Args({96, 96})->Args({188, 250})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace protocom

BENCHMARK_MAIN();
