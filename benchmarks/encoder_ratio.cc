// Compares the speed of several files of one network: the processor time of a batch, in turns, so that all run under
// the same conditions. Features are compared as well.
//
//   encoder_ratio PREPROCESS IMAGES THREADS ENCODER ENCODER...
//   encoder_ratio imagenet 16 2 resnet18.pt resnet18.onnx
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "base/error.h"
#include "networks/backbone.h"

namespace {

constexpr int kRounds = 15;

struct Trial {
  std::unique_ptr<protocom::Backbone> backbone;
  std::vector<double> seconds;
  at::Tensor features;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void compare(const char* preprocess, int64_t images, const std::vector<const char*>& files) {
  const at::NoGradGuard no_grad;
  protocom::EncoderFileOptions said;
  said.preprocessing = protocom::parse_preprocessing(preprocess);
  std::vector<Trial> trials;
  for (const char* file : files) trials.push_back({protocom::open_backbone(file, said), {}, {}});
  const int64_t side = trials.front().backbone->image_size();
  const at::Tensor batch = at::rand({images, 3, side, side});
  for (Trial& trial : trials) {
    trial.backbone->freeze();
    trial.features = trial.backbone->forward(batch);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Trial& trial : trials) {
      const double start = processor_seconds();
      static_cast<void>(trial.backbone->forward(batch));
      trial.seconds.push_back(processor_seconds() - start);
    }
  }
  const double first = median(trials.front().seconds);
  for (size_t i = 0; i < trials.size(); ++i) {
    const double apart = (trials[i].features - trials[0].features).abs().max().item<double>();
    std::printf("%s: %.1f ms an image, %.2f times the first's time, features %.1e apart\n", files[i],
                1e3 * median(trials[i].seconds) / static_cast<double>(images), median(trials[i].seconds) / first,
                apart / trials[0].features.abs().max().item<double>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: encoder_ratio PREPROCESS IMAGES THREADS ENCODER...\n", stderr);
    return 2;
  }
  ::mallopt(M_MMAP_MAX, 0);  // as in the program
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  try {
    at::set_num_threads(std::atoi(argv[3]));
    compare(argv[1], std::atoll(argv[2]), {argv + 4, argv + argc});
    return 0;
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "encoder_ratio: %s\n", error.what());
    return 1;
  }
}
