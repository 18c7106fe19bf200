// A method of your own, outside protocom's tree, compared with others on the same episodes: own_method features.npz
#include <protocom/evaluate.h>
#include <protocom/own_method.h>

#include <cstdio>
#include <limits>

// Answers with the class of the nearest labelled image.
class Nearest : public protocom::OwnMethod {
 public:
  std::string name() const override { return "nearest"; }
  void score(const protocom::OwnTask& task, float* logits) const override {
    for (int64_t i = 0; i < task.queries * task.classes; ++i) logits[i] = -std::numeric_limits<float>::max();
    for (int64_t q = 0; q < task.queries; ++q) {
      for (int64_t m = 0; m < task.supports; ++m) {
        float distance = 0;
        for (int64_t j = 0; j < task.dim; ++j) {
          const float difference = task.query[q * task.dim + j] - task.support[m * task.dim + j];
          distance += difference * difference;
        }
        float& logit = logits[q * task.classes + task.labels[m]];
        if (-distance > logit) logit = -distance;
      }
    }
  }
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  protocom::add_method(std::make_shared<Nearest>());
  protocom::EpisodeOptions tasks;
  tasks.shape.n_way = 3;
  tasks.shape.n_query = 5;
  protocom::EvaluateOptions options;
  options.methods = {"mean", "nearest"};
  const auto features = protocom::FeatureSet::read(argv[1]);
  std::printf("%s", protocom::evaluate(protocom::Episodes(features, tasks), options).table().c_str());
}
