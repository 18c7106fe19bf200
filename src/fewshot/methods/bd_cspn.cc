#include "fewshot/toolbox/detail/rectified_rows.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom::methods {
namespace {

struct Options : RectifyOptions {
  std::string transform = "cl2n";
};

class BdCspnRun : public TaskRun {
 public:
  explicit BdCspnRun(const Options& options) : by_cosine_(options.variant == "sum"), rectified_(options) {}

  void answer(const Task& task, float* logits) override {
    const Floats& prototypes = rectified_.place(task);
    const int64_t first = task.first_query();
    if (!by_cosine_) return compute_negative_distances(task, first, task.queries, prototypes, logits);
    compute_cosines(task, first, task.queries, prototypes, logits);
    scale_logits(task, 10, logits);
  }

 private:
  bool by_cosine_;
  RectifiedRows rectified_;
};

}  // namespace

MethodDefinition bd_cspn() {
  MethodSpec spec;
  spec.name = "bd-cspn";
  spec.about = "prototypes rectified by pseudo-labelled queries, which are first moved to the supports’ mean";
  spec.citation = "Liu, Song, Qin: Prototype Rectification for Few-Shot Learning, ECCV 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The authors published no code. variant=mean is Veilleux et al.’s form (NeurIPS 2021; answers by Euclidean "
      "distance), variant=sum the paper’s equations (answers by cosine; with scale=1 as in easyfsl), but all queries "
      "join, not the 8 most confident a class. The original queries are answered, not the moved ones.";
  return define_task_method_in_space<BdCspnRun>(
      std::move(spec),
      Parameters<Options>()
          .choice("variant", &Options::variant, {"mean", "sum"}, "how pseudo-labelled images are weighed; see notes")
          .tries({"sum"})
          .real("scale", &Options::scale, {}, "factor of the cosine in the weights")
          .tries({"1", "5", "20"}),
      {"l2n"});
}

}  // namespace protocom::methods
