// Measures streaming of word vectors (time, and that memory does not grow with the file), WordNet's closure, the
// graph's decomposition.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "knowledge/graph_embedding.h"
#include "knowledge/word_vectors.h"
#include "knowledge/wordnet_attributes.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr int kDim = 300;

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// A file of words "w0", "w1", ... in GloVe's format, removed at the end.
class VectorFile {
 public:
  explicit VectorFile(int64_t words)
      : path_(std::filesystem::temp_directory_path() / fmt::format("protocom-glove-{}.txt", words)) {
    Rng rng(0);
    std::string numbers;
    for (int i = 0; i < kDim; ++i) numbers += fmt::format(" {:.5f}", rng.normal());
    std::ofstream file(path_, std::ios::binary);
    for (int64_t i = 0; i < words; ++i) file << 'w' << i << numbers << '\n';
  }
  ~VectorFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  VectorFile(const VectorFile&) = delete;
  VectorFile& operator=(const VectorFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void stream_word_vectors(benchmark::State& state) {
  const VectorFile file(state.range(0));
  std::set<std::string> wanted;
  for (int64_t i = 0; i < 3000; ++i) wanted.insert(fmt::format("w{}", i * state.range(0) / 3000));
  for (auto _ : state) benchmark::DoNotOptimize(read_word_vectors(file.path(), wanted));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(std::filesystem::file_size(file.path())));
  state.counters["peak_MiB"] = peak_mib();
}
BENCHMARK(stream_word_vectors)->Arg(40'000)->Arg(400'000)->Unit(benchmark::kMillisecond);

void wordnet_attributes_of_100_classes(benchmark::State& state) {
  const WordNet wordnet;
  const std::vector<std::string> dogs = {"chihuahua", "papillon", "beagle",   "saluki",    "whippet",
                                         "komondor",  "boxer",    "malamute", "dalmatian", "pug"};
  std::vector<std::string> classes;
  for (int i = 0; i < 10; ++i) classes.insert(classes.end(), dogs.begin(), dogs.end());
  for (std::string& name : classes) name = wordnet.resolve(name).value();
  for (auto _ : state) benchmark::DoNotOptimize(wordnet_attributes(wordnet, classes));
}
BENCHMARK(wordnet_attributes_of_100_classes)->Unit(benchmark::kMillisecond);

void graph_embedding(benchmark::State& state) {
  const Array association = array_of(at::rand({state.range(0), 1000}).lt(0.05).to(at::kFloat));
  for (auto _ : state) benchmark::DoNotOptimize(embed_graph(association, 50));
}
BENCHMARK(graph_embedding)->Arg(100)->Arg(608)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace protocom

BENCHMARK_MAIN();
