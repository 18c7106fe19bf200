#include "fewshot/toolbox/detail/label_graph.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom::methods {
namespace {

struct Options : LabelGraphOptions {
  std::string transform = "cl2n";
};

class LabelPropagationRun : public TaskRun {
 public:
  explicit LabelPropagationRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    constexpr double kTiny = 1e-9;  // for a point that no support reaches, all classes become equally probable
    const LabelGraph graph(task, options_);
    const DoubleMatrix f = graph.of_queries(graph.propagate(labels_of(task)));
    matrix_at(logits, task) = (f.array() + kTiny).log().cast<float>();
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition label_propagation() {
  MethodSpec spec;
  spec.name = "label-propagation";
  spec.about = "labels spread from the supports along a graph of near neighbours";
  spec.citation = "Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with Local and Global Consistency, NeurIPS 2003";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Graph and settings are those of iLPC’s first round (Lazarou, Stathaki, Avrithis, ICCV 2021, after Iscen et al., "
      "CVPR 2019). An image’s probabilities are its share of each class. Queries beside a pool take the share of "
      "their nearest points.";
  return define_task_method_in_space<LabelPropagationRun>(
      std::move(spec),
      Parameters<Options>()
          .real("alpha", &Options::alpha, {0, 0.9999}, "share taken from the neighbours")
          .tries({"0.5", "0.7", "0.9"})
          .whole("neighbours", &Options::neighbours, {1, 1e6}, "nearest others of an image")
          .tries({"5", "10", "25"})
          .real("power", &Options::power, {}, "of the cosine, in the graph")
          .tries({"1", "5"}),
      {"l2n"});
}

}  // namespace protocom::methods
