#include <algorithm>
#include <utility>

#include "base/symmetric_eigen.h"
#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/balanced_logits.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 10;
  double share = 0.6;
  double rate = 0.2;
  int64_t steps = 100;
  int64_t dimensions = 40;
  std::string transform = "cl2n";
};

/// Projects the points on the largest singular vectors of supports and unlabelled images, minus the mean of these, at
/// unit length: [m, dimensions], one row per point.
DoubleMatrix reduced(const Task& task, int64_t dimensions) {
  DoubleMatrix points = matrix_of(task, 0, task.points());
  const int64_t learned = task.learned();
  if (dimensions < std::min(learned, task.width))
    points = points * leading_axes(points.topRows(learned), dimensions).transpose();
  const Eigen::RowVectorXd mean = points.topRows(learned).colwise().mean();
  points.rowwise() -= mean;
  return unit_rows(points);
}

/// Propagates labels to the unlabelled images on the graph between images and classes.
class Propagation {
 public:
  /// Computes Z A with A = (Zs'Zs + I - Z'Z D^-1)^-1 Zs'Y, where Z has the supports' labels above the shares z of the
  /// unlabelled images, and D its column sums; balanced. Shares and result are class-major, [n, stride], of which the
  /// first u are used.
  const Floats& place(const Task& task, const Floats& z, int64_t stride) {
    const int64_t n = task.n, u = task.unlabelled;
    const auto shares = Eigen::Map<const FloatMatrix>(z.data(), n, stride).leftCols(u);
    found_.assign(z.size(), 0.0F);
    auto found = Eigen::Map<FloatMatrix>(found_.data(), n, stride).leftCols(u);
    found.noalias() = weights(task, shares).cast<float>() * shares;
    found = found.cwiseMax(kTiny);
    const Eigen::RowVectorXf most = found.colwise().maxCoeff();
    found.array().rowwise() /= most.array();
    const Floats scales = sinkhorn_scales(found_, stride, balanced_columns(u, n));
    shares_of_classes(scales.data(), found_.data(), n, stride);
    return found_;
  }

 private:
  static constexpr float kTiny = 1e-12F;

  /// Returns A' for shares z' [n, u]: S M^-1 D with M = S D + D - S - z'z, symmetric, and S = Zs'Zs the supports per
  /// class.
  template <typename Shares>
  static DoubleMatrix weights(const Task& task, const Shares& shares) {
    DoubleVector shots = DoubleVector::Zero(task.n);
    for (const int64_t k : task.label) ++shots[k];
    const DoubleVector sums = shots + shares.template cast<double>().rowwise().sum();
    const FloatMatrix common = shares * shares.transpose();
    DoubleMatrix system = -common.cast<double>();
    system.diagonal().array() += shots.array() * sums.array() + sums.array() - shots.array();
    const DoubleMatrix right = sums.asDiagonal();
    const DoubleMatrix solved = system.llt().solve(right);
    return shots.asDiagonal() * solved;
  }

  Floats found_;
};

/// Arrays with a number per point are class-major, [n, stride].
class ProtoLpRun : public TaskRun {
 public:
  explicit ProtoLpRun(const Options& options) : options_(options), balanced_(options.lambda) {}

  void answer(const Task& task, float* logits) override {
    compute_points(task);
    for (int64_t step = 0; step < options_.steps && task.unlabelled > 0; ++step) {
      balanced_.place(task, span_, means_);
      Floats& z = balanced_.plan();
      const int64_t stride = balanced_.plan_stride();
      step_towards(propagation_.place(task, z, stride), options_.share, z);
      compute_means_of_shares(task, labels_, z.data(), stride, span_.stride(), next_);
      step_towards(next_, options_.rate, means_);
    }
    balanced_.place(task, span_, means_);
    balanced_.answer(task, logits);
  }

 private:
  /// Computes the points and the initial class means, at unit length.
  void compute_points(const Task& task) {
    if (task.unlabelled == 0) {
      span_.place(task.rows, task.dim);
    } else {
      const auto& rows = rows_.place(reduced(task, options_.dimensions));
      span_.place(rows, rows_.dim());
    }
    const int64_t stride = span_.stride();
    compute_labels(task, stride, labels_);
    compute_mean_coefficients(task, stride, means_);
    next_.resize(means_.size());
    span_.compute_products(means_.data(), task.n, next_.data());
    for (int64_t k = 0; k < task.n; ++k) {
      float* own = means_.data() + k * stride;
      const float factor = inverse_root(row_dot(own, next_.data() + k * stride, stride));
      for (int64_t i = 0; i < stride; ++i) own[i] *= factor;
    }
  }

  Options options_;
  MatrixRows rows_;
  RowSpan span_;
  BalancedLogits balanced_;
  Propagation propagation_;
  Floats labels_, means_, next_;  // [n, stride]
};

}  // namespace

MethodDefinition protolp() {
  MethodSpec spec;
  spec.name = "protolp";
  spec.about = "class means and a graph from images to them, each refined by the other";
  spec.citation =
      "Zhu, Koniusz: Transductive Few-shot Learning with Prototype-based Label Propagation by Iterative Graph "
      "Refinement, CVPR 2023";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The authors’ code takes the power transform; transform=cl2n is for features that may be negative. It balances "
      "propagated labels over supports and queries and stops at .01; here they are balanced over the queries, which "
      "differs only by the stopping threshold (.001).";
  return define_task_method_in_space<ProtoLpRun>(
      std::move(spec),
      Parameters<Options>()
          .real("lambda", &Options::lambda, {1e-6}, "factor of the squared distance")
          .tries({"5", "20"})
          .real("share", &Options::share, {0, 1}, "of the propagated labels")
          .tries({"0.3", "0.8"})
          .real("rate", &Options::rate, {0, 1}, "share of a step that the means take")
          .tries({"0.1", "0.4"})
          .whole("steps", &Options::steps, {0, 1e5}, "of the means")
          .whole("dimensions", &Options::dimensions, {1, 1e6}, "kept of each episode")
          .tries({"20", "60"}),
      {"l2n"});
}

}  // namespace protocom::methods
