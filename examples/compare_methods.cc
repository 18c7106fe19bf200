// Fits the default method on base classes and compares it with others on the same episodes: compare_methods
// features.npz
#include <protocom/evaluate.h>
#include <protocom/process.h>

#include <cstdio>

int main(int argc, char** argv) {
  protocom::tune_process();
  if (argc != 2) return 2;
  try {
    const auto features = protocom::FeatureSet::read(argv[1]);
    protocom::EpisodeOptions tasks;
    tasks.shape.n_way = 3;
    tasks.shape.n_query = 5;
    tasks.count = 200;
    protocom::EvaluateOptions options;
    options.fitted = {protocom::fit("plda", features)};
    options.methods = {"mean", "plda", "plda-vb", "proto-net"};
    const protocom::Results results = protocom::evaluate(protocom::Episodes(features, tasks), options);
    std::printf("%s", results.table().c_str());
    const protocom::Estimate gain = *results.of("plda").gain;
    std::printf("plda gains %.1f points over the mean, ± %.1f\n", gain.value, gain.ci95);
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
