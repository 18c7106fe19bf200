// Times one call of Classifier::probabilities in C++, beside `run`: call METHOD FEATURES DIM CALLS, where FEATURES are
// float32 of 25 labelled images of 5 classes, then of 75 queries. Prints nanoseconds, one call per line.
#include <protocom/method.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int64_t dim = std::atoll(argv[3]);
  std::vector<float> support(static_cast<size_t>(25 * dim)), queries(static_cast<size_t>(75 * dim));
  std::ifstream file(argv[2], std::ios::binary);
  file.read(reinterpret_cast<char*>(support.data()), static_cast<std::streamsize>(4 * support.size()));
  file.read(reinterpret_cast<char*>(queries.data()), static_cast<std::streamsize>(4 * queries.size()));
  if (!file) return 1;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 25; ++i) labels.push_back(i / 5);
  const protocom::Classifier classifier(argv[1], {support, dim}, labels);
  for (int i = -100; i < std::atoi(argv[4]); ++i) {  // the first hundred are for warm-up
    const auto start = std::chrono::steady_clock::now();
    const protocom::Matrix found = classifier.probabilities({queries, dim});
    const auto end = std::chrono::steady_clock::now();
    if (i >= 0) std::printf("%lld\n", static_cast<long long>(std::chrono::nanoseconds(end - start).count()));
  }
}
