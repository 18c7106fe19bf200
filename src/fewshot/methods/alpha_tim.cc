#include "fewshot/toolbox/detail/information_descent.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double alpha = 0;
  double temperature = 15;
  double cross_entropy = 1;
  double marginal = 1;
  double conditional = 1;
  int64_t steps = 1000;
  double learning_rate = 1e-4;
  std::string transform = "l2n";
};

/// Returns the published choice for a number of shots.
double alpha_for(int64_t shots) {
  if (shots <= 1) return 2;
  return shots < 5 ? 5 : 7;
}

class AlphaTimRun : public TaskRun {
 public:
  explicit AlphaTimRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    InformationLoss loss{options_.temperature, options_.cross_entropy, options_.marginal, options_.conditional,
                         options_.alpha};
    if (loss.alpha == 0) loss.alpha = alpha_for(most_shots(task));
    answer_by_information(task, loss, {options_.learning_rate, options_.steps}, logits);
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition alpha_tim() {
  MethodSpec spec;
  spec.name = "alpha-tim";
  spec.about = "tim with Tsallis’s entropy, for unbalanced queries";
  spec.citation =
      "Veilleux, Boudiaf, Piantanida, Ben Ayed: Realistic Evaluation of Transductive Few-Shot Learning, NeurIPS 2021";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Rewards answers that use all classes, but less than tim does; published for queries in unknown proportions. "
      "The cross-entropy is Shannon’s, as in the authors’ settings.";
  return define_task_method_in_space<AlphaTimRun>(
      std::move(spec),
      Parameters<Options>()
          .real("alpha", &Options::alpha, {0, 100},
                "of the entropy; 0: the published 2 for one shot, 5 for two to four, 7 from five")
          .tries({"2", "3", "5", "7"})
          .real("temperature", &Options::temperature, {1e-6}, "factor of the logits")
          .tries({"5", "10", "30"})
          .real("cross_entropy", &Options::cross_entropy, {}, "weight of the supports’ cross-entropy")
          .real("marginal", &Options::marginal, {}, "weight of the entropy of the queries’ mean answer")
          .real("conditional", &Options::conditional, {}, "weight of the mean entropy of the queries’ answers")
          .tries({"0.5"})
          .whole("steps", &Options::steps, {0, 1e6}, "of Adam")
          .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam")
          .tries({"1e-3"}),
      {"cl2n"});
}

}  // namespace protocom::methods
