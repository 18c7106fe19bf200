#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/adam.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 15;
  int64_t steps = 100;
  double learning_rate = 1e-3;
};

/// A cosine classifier fitted on the supports, which have unit length.
class BaselinePpRun : public TaskRun {
 public:
  explicit BaselinePpRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    compute_class_means(task, means_);
    Eigen::Map<FloatMatrix>(means_.data(), task.n, task.dim) = fitted(task, means_);
    compute_cosines(task, task.first_query(), task.queries, means_, logits);
    scale_logits(task, options_.scale, logits);
  }
  /// Queries have unit length, as supports do.
  [[nodiscard]] LinearScores learned(const Task& task) const {
    Floats means;
    compute_class_means(task, means);
    const DoubleMatrix weights = fitted(task, means).leftCols(task.width).cast<double>();
    return {options_.scale * unit_rows(weights), DoubleVector::Zero(task.n)};
  }
  [[nodiscard]] const float* prototypes() const override { return means_.data(); }

 private:
  /// Returns class means [n, dim] after Adam's steps on the supports' cross-entropies.
  [[nodiscard]] FloatMatrix fitted(const Task& task, const Floats& means) const {
    constexpr float kTiny = 1e-24F;
    const int64_t n = task.n, supports = task.supports(), dim = task.dim;
    FloatMatrix weights = Eigen::Map<const FloatMatrix>(means.data(), n, dim);
    const FloatMatrix labels = labels_of_supports(task).cast<float>().transpose();  // [n, s]
    FloatMatrix slopes(n, supports), pull(n, dim);
    std::vector<const float*> rows;
    for (int64_t k = 0; k < n; ++k) rows.push_back(weights.row(k).data());
    Adam adam(options_.learning_rate);
    for (int64_t step = 0; step < options_.steps; ++step) {
      const Eigen::VectorXf squares = weights.rowwise().squaredNorm().cwiseMax(kTiny);
      const Eigen::VectorXf factors = static_cast<float>(options_.scale) * squares.cwiseSqrt().cwiseInverse();
      products_of_rows({rows.data(), n, task.rows.data(), supports, dim, supports}, slopes.data());
      slopes = residuals(labels, softmax_of_columns(factors.asDiagonal() * slopes));
      sums_of_rows({task.rows.data(), supports, slopes.data(), n, supports, dim}, pull.data());
      // Backpropagates through u = w / |w|: the component of the gradient orthogonal to u, over |w|.
      const Eigen::VectorXf push = weights.cwiseProduct(pull).rowwise().sum().cwiseQuotient(squares);
      const Eigen::VectorXf shares = factors / static_cast<float>(supports);
      adam.step(shares.asDiagonal() * (pull - push.asDiagonal() * weights), weights);
    }
    return weights;
  }

  Options options_;
  Floats means_;  // [n, dim]
};

}  // namespace

MethodDefinition baseline_pp() {
  MethodSpec spec;
  spec.name = "baseline-pp";
  spec.about = "cosine classifier fitted on the supports of each episode";
  spec.citation = "Chen, Liu, Kira, Wang, Huang: A Closer Look at Few-shot Classification, ICLR 2019";
  spec.notes =
      "Starts at the mean of the unit supports instead of at random; Adam, scale and steps as in Veilleux et al., "
      "NeurIPS 2021, whose code however fits with Euclidean logits: here fitting and answer both use the cosine.";
  return define_task_method<BaselinePpRun>(std::move(spec),
                                           Parameters<Options>()
                                               .real("scale", &Options::scale, {1e-6}, "factor of the cosine")
                                               .tries({"5", "10", "30"})
                                               .whole("steps", &Options::steps, {0, 1e6}, "of Adam")
                                               .tries({"30", "300"})
                                               .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam")
                                               .tries({"1e-2"}),
                                           "l2n");
}

}  // namespace protocom::methods
