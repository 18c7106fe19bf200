#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double sharpness = 10;
  int64_t steps = 10;
  std::string transform = "cl2n";
};

/// Class means in coefficients of the task's points, after steps of
///   r_jk = softmax_k(-sharpness |q_j - m_k|^2),  m_k = (sum of supports + sum_j r_jk q_j) / (K + sum_j r_jk):
/// equation 6 of Ren et al.
class SoftKMeansRun : public TaskRun {
 public:
  explicit SoftKMeansRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    span_.place(task.rows, task.dim);
    const int64_t n = task.n, stride = span_.stride();
    place_mean_coefficients(task, stride, means_);
    place_labels(task, stride, labels_);
    for (int64_t step = 0; step < options_.steps; ++step) {
      place_logits(n);
      exponentials_of_classes(logits_.data(), n, stride);
      shares_of_classes(nullptr, logits_.data(), n, stride);
      place_means_of_shares(task, labels_, logits_.data() + task.supports(), stride, stride, means_);
    }
    place_logits(n);
    place_logits_of_queries(task, logits_, stride, logits);
  }

 private:
  void place_logits(int64_t n) {
    logits_.resize(means_.size());
    span_.place_distances(means_.data(), n, logits_.data());
    for (float& logit : logits_) logit *= -static_cast<float>(options_.sharpness);
  }

  Options options_;
  RowSpan span_;
  Floats means_, labels_, logits_;  // [n, stride]
};

}  // namespace

MethodDefinition soft_k_means() {
  MethodSpec spec;
  spec.name = "soft-k-means";
  spec.about = "class means that take in the queries by soft assignment, again and again";
  spec.citation =
      "Ren, Triantafillou, Ravi, Snell, Swersky, Tenenbaum, Larochelle, Zemel: Meta-Learning for Semi-Supervised "
      "Few-Shot Classification, ICLR 2018";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Ren et al. take one step with a learned scale; sharpness and several steps are as in today’s use as a start "
      "(Hu et al., BAVARDAGE, 2022).";
  return define_task_method_in_space<SoftKMeansRun>(
      std::move(spec),
      Parameters<Options>()
          .real("sharpness", &Options::sharpness, {1e-6}, "factor of the squared distance")
          .tries({"3", "5", "20", "40"})
          .whole("steps", &Options::steps, {0, 1e5}, "assignments")
          .tries({"1", "3", "30"}),
      {"l2n"});
}

}  // namespace protocom::methods
