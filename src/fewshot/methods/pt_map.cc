#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/balanced_logits.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 10;
  double rate = 0.2;
  int64_t steps = 20;
  std::string transform = "cl2n";
};

/// Supports minus their mean, unlabelled images (and queries) minus the unlabelled images' mean, scaled to unit length.
/// Without unlabelled images the points are unchanged. One object per thread.
class CentredRows {
 public:
  /// Returns the rows, [m]; valid until the next call.
  const std::vector<const float*>& place(const Task& task);

 private:
  void compute_apart(const Task& task, int64_t begin, int64_t end);

  Floats centre_;  // [dim]
  Floats rows_;    // [m, dim]
  std::vector<const float*> pointers_;
};

const std::vector<const float*>& CentredRows::place(const Task& task) {
  if (task.unlabelled == 0) return task.rows;
  const int64_t supports = task.supports();
  grow(rows_, task.points() * task.dim);
  pointers_.clear();
  compute_mean(task, 0, supports, centre_);
  compute_apart(task, 0, supports);
  compute_mean(task, supports, task.learned(), centre_);
  compute_apart(task, supports, task.points());
  return pointers_;
}

void CentredRows::compute_apart(const Task& task, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float* own = rows_.data() + i * task.dim;
    unit_row(task.rows[static_cast<size_t>(i)], centre_.data(), task.dim, own);
    pointers_.push_back(own);
  }
}

/// Arrays with a number per point are class-major, [n, stride].
class PtMapRun : public TaskRun {
 public:
  explicit PtMapRun(const Options& options) : options_(options), balanced_(options.lambda) {}

  void answer(const Task& task, float* logits) override {
    span_.place(centred_.place(task), task.dim);
    const int64_t stride = span_.stride();
    compute_mean_coefficients(task, stride, means_);
    compute_labels(task, stride, labels_);
    for (int64_t step = 0; step < options_.steps && task.unlabelled > 0; ++step) {
      balanced_.place(task, span_, means_);
      compute_means_of_shares(task, labels_, balanced_.plan().data(), balanced_.plan_stride(), stride, next_);
      step_towards(next_, options_.rate, means_);
    }
    balanced_.place(task, span_, means_);
    balanced_.answer(task, logits);
  }

 private:
  Options options_;
  CentredRows centred_;
  RowSpan span_;
  BalancedLogits balanced_;
  Floats labels_, means_, next_;  // [n, stride]
};

}  // namespace

MethodDefinition pt_map() {
  MethodSpec spec;
  spec.name = "pt-map";
  spec.about = "class means moved step by step towards the queries that optimal transport assigns to them";
  spec.citation =
      "Hu, Gripon, Pateux: Leveraging the Feature Distribution in Transfer-based Few-Shot Learning, ICANN 2021";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The power transform of the paper needs features that are not negative: transform=power for backbones that end "
      "in a ReLU, else cl2n. Gives every class the same number of queries. The plan’s rows are normalised last.";
  return define_task_method_in_space<PtMapRun>(
      std::move(spec),
      Parameters<Options>()
          .real("lambda", &Options::lambda, {1e-6}, "factor of the squared distance")
          .tries({"5", "20", "40"})
          .real("rate", &Options::rate, {0, 1}, "share of a step that the means take")
          .tries({"0.1", "0.4"})
          .whole("steps", &Options::steps, {0, 1e5}, "of the means")
          .tries({"10", "50"}),
      {"l2n", "power"});
}

}  // namespace protocom::methods
