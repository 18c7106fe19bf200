#include <algorithm>
#include <cmath>
#include <vector>

#include "fewshot/row_length.h"
#include "fewshot/toolbox/detail/label_graph.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
#include "fewshot/toolbox/detail/softmax_descent.h"
#include "fewshot/toolbox/detail/task_matrix.h"
#include "fewshot/toolbox/detail/task_method.h"

namespace protocom::methods {
namespace {

struct Options : LabelGraphOptions {
  double sharpness = 3;
  int64_t keep = 3;
  int64_t cleaning_steps = 1000;
  std::string transform = "l2n";
};

/// The loss of each image, summed over the training of a linear classifier on all of them.
class Cleaning {
 public:
  Cleaning(const Task& task, int64_t steps) : steps_(steps) {
    const DoubleMatrix x = matrix_of(task, 0, task.learned());
    gram_ = x * x.transpose();
    const int64_t points = task.learned();
    stride_ = padded_length(points);
    // Columns that are multiplied at the same time are adjacent, with 1 appended for the bias.
    panels_.assign(static_cast<size_t>(stride_ * points), 0.0);
    for (int64_t i = 0; i < points; ++i) {
      for (int64_t j = 0; j < points; ++j) {
        const int64_t panel = j / kRowMultiple * points + i;
        panels_[static_cast<size_t>(panel * kRowMultiple + j % kRowMultiple)] = gram_(i, j) + 1;
      }
    }
  }

  /// Returns the losses [s + u] for `labels` [s + u, n] of all images; `trusted` are the labels of the supports and of
  /// images kept so far.
  [[nodiscard]] std::vector<double> losses(const DoubleMatrix& labels, const DoubleMatrix& trusted) const {
    const int64_t n = labels.cols(), points = labels.rows();
    const DoubleMatrix scores = imprinted(trusted);  // [n, s + u]
    std::vector<double> start(static_cast<size_t>((n - 1) * stride_)), target(static_cast<size_t>(n * stride_));
    for (int64_t i = 0; i < points; ++i) {
      for (int64_t k = 0; k + 1 < n; ++k) start[static_cast<size_t>(k * stride_ + i)] = scores(k, i) - scores(n - 1, i);
      for (int64_t k = 0; k < n; ++k) target[static_cast<size_t>(k * stride_ + i)] = labels(i, k);
    }
    std::vector<double> work(static_cast<size_t>((3 * n - 2) * stride_)), found(static_cast<size_t>(stride_));
    SoftmaxDescent descent;
    descent.gram = panels_.data();
    descent.start = start.data();
    descent.labels = target.data();
    descent.n = n;
    descent.points = points;
    descent.stride = stride_;
    descent.share = 1 / labels.sum();
    descent.rate = 0.1;
    descent.momentum = 0.9;
    descent.decay = 5e-4;
    descent.steps = steps_;
    descent.work = work.data();
    softmax_descent(descent, found.data());
    return found;
  }

 private:
  /// Returns products of the points with the class means at unit length, [n, s + u].
  [[nodiscard]] DoubleMatrix imprinted(const DoubleMatrix& trusted) const {
    const DoubleMatrix means =  // [n, s + u], coefficients of the points
        trusted.transpose().array().colwise() / trusted.colwise().sum().transpose().array();
    const DoubleMatrix products = means * gram_;
    const DoubleVector squares = means.cwiseProduct(products).rowwise().sum();
    return products.array().colwise() / squares.array().max(1e-24).sqrt();
  }

  DoubleMatrix gram_;           // [s + u, s + u]
  std::vector<double> panels_;  // the same in the layout of SoftmaxDescent
  int64_t stride_ = 0;
  int64_t steps_;
};

/// The state of a task between rounds. In float64, because the choice of the cleanest images must not depend on
/// rounding.
class Rounds {
 public:
  Rounds(const Task& task, const Options& options)
      : task_(task),
        options_(options),
        graph_(task, options),
        cleaning_(task, options.cleaning_steps),
        trusted_(labels_of(task)),
        open_(static_cast<size_t>(task.unlabelled), true),
        remaining_(static_cast<size_t>(task.n), static_cast<double>(task.unlabelled) / static_cast<double>(task.n)),
        answer_(DoubleMatrix::Zero(task.unlabelled, task.n)) {}

  /// Labels the cleanest images of each class; returns false when all are labelled.
  bool next() {
    if (std::find(open_.begin(), open_.end(), true) == open_.end()) return false;
    const DoubleMatrix plan = transported();  // [u, n]
    std::vector<int64_t> label(open_.size(), -1);
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_[i]) plan.row(static_cast<int64_t>(i)).maxCoeff(&label[i]);
    }
    for (const int64_t i : cleanest(label)) {
      const int64_t k = label[static_cast<size_t>(i)];
      answer_.row(i) = plan.row(i);
      open_[static_cast<size_t>(i)] = false;
      remaining_[static_cast<size_t>(k)] = std::max(remaining_[static_cast<size_t>(k)] - 1, 0.0);
      trusted_(task_.supports() + i, k) = 1;
    }
    return true;
  }

  /// Returns the probabilities [q, n].
  [[nodiscard]] DoubleMatrix answer() const {
    return task_.first_query() < task_.learned() ? answer_ : graph_.of_queries(trusted_);
  }

 private:
  /// Returns propagated labels after optimal transport to the remaining columns, [u, n].
  [[nodiscard]] DoubleMatrix transported() const {
    constexpr double kTiny = 1e-12;
    const int64_t u = task_.unlabelled, n = task_.n;
    DoubleMatrix logits = graph_.propagate(trusted_).bottomRows(u).array() + kTiny;
    const DoubleVector sums = logits.rowwise().sum();
    logits = options_.sharpness * (logits.array().colwise() / sums.array()).log();
    const int64_t stride = padded_length(u);
    Floats kernel(static_cast<size_t>(n * stride));
    for (int64_t i = 0; i < u; ++i) {
      if (!open_[static_cast<size_t>(i)]) continue;
      const double most = logits.row(i).maxCoeff();
      for (int64_t k = 0; k < n; ++k)
        kernel[static_cast<size_t>(k * stride + i)] = static_cast<float>(std::exp(logits(i, k) - most));
    }
    const Floats scales = sinkhorn_scales(kernel, stride, Floats(remaining_.begin(), remaining_.end()));
    for (int64_t k = 0; k < n; ++k)
      logits.col(k).array() += std::log(static_cast<double>(scales[static_cast<size_t>(k)]));
    const DoubleVector most = logits.rowwise().maxCoeff();
    DoubleMatrix plan = (logits.array().colwise() - most.array()).exp();
    const DoubleVector totals = plan.rowwise().sum();
    plan.array().colwise() /= totals.array();
    return plan;
  }

  /// Returns the unlabelled images to label in this round: for each class at most `keep`, those with the least loss;
  /// all of them if there are fewer than classes.
  [[nodiscard]] std::vector<int64_t> cleanest(const std::vector<int64_t>& label) const {
    std::vector<std::vector<int64_t>> members(static_cast<size_t>(task_.n));
    std::vector<int64_t> all;
    for (size_t i = 0; i < label.size(); ++i) {
      if (label[i] < 0) continue;
      members[static_cast<size_t>(label[i])].push_back(static_cast<int64_t>(i));
      all.push_back(static_cast<int64_t>(i));
    }
    int64_t kept = 0;
    bool needs_losses = false;  // some class has more images than it may keep
    for (const auto& own : members) {
      const auto count = static_cast<int64_t>(own.size());
      kept += std::min(count, options_.keep);
      needs_losses = needs_losses || count > options_.keep;
    }
    if (kept < task_.n || !needs_losses) return all;
    DoubleMatrix labels = trusted_;
    for (const int64_t i : all) labels(task_.supports() + i, label[static_cast<size_t>(i)]) = 1;
    const std::vector<double> loss = cleaning_.losses(labels, trusted_);
    std::vector<int64_t> chosen;
    for (auto& own : members) {
      const auto count = std::min(static_cast<int64_t>(own.size()), options_.keep);
      std::sort(own.begin(), own.end(), [&](int64_t a, int64_t b) {
        const auto of = [&](int64_t i) { return loss[static_cast<size_t>(task_.supports() + i)]; };
        return of(a) < of(b) || (of(a) == of(b) && a < b);
      });
      chosen.insert(chosen.end(), own.begin(), own.begin() + count);
    }
    return chosen;
  }

  const Task& task_;
  const Options& options_;
  LabelGraph graph_;
  Cleaning cleaning_;
  DoubleMatrix trusted_;           // labels of supports and of images labelled so far, [s + u, n]
  std::vector<bool> open_;         // unlabelled images not yet labelled, [u]
  std::vector<double> remaining_;  // number of images that each class is still to get, [n]
  DoubleMatrix answer_;            // the row of the plan with which an image was labelled, [u, n]
};

class IlpcRun : public TaskRun {
 public:
  explicit IlpcRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    constexpr double kTiny = 1e-9;
    Rounds rounds(task, options_);
    while (rounds.next()) {
    }
    matrix_at(logits, task) = (rounds.answer().array() + kTiny).log().cast<float>();
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition ilpc() {
  MethodSpec spec;
  spec.name = "ilpc";
  spec.about = "label propagation in rounds, each of which adds the most reliable pseudo-labels to the supports";
  spec.citation =
      "Lazarou, Stathaki, Avrithis: Iterative Label Cleaning for Transductive and Semi-Supervised Few-Shot "
      "Learning, ICCV 2021";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "As the authors’ code for ResNet-12, except that the propagated labels are solved exactly, not by 20 steps of "
      "conjugate gradients, and the classifier’s bias starts at 0, not at random. Probabilities are the transport "
      "plan’s row in the round that labelled the image. Queries beside a pool take their nearest points’ labels.";
  return define_task_method_in_space<IlpcRun>(
      std::move(spec),
      Parameters<Options>()
          .real("alpha", &Options::alpha, {0, 0.9999}, "share taken from the neighbours")
          .tries({"0.5", "0.9"})
          .whole("neighbours", &Options::neighbours, {1, 1e6}, "nearest others of an image")
          .tries({"8", "25"})
          .real("power", &Options::power, {}, "of the cosine, in the graph")
          .real("sharpness", &Options::sharpness, {1e-6}, "power of the propagated labels")
          .tries({"1"})
          .whole("keep", &Options::keep, {1, 1e6}, "labels a class and round")
          .tries({"5"})
          .whole("cleaning_steps", &Options::cleaning_steps, {1, 1e6}, "of the classifier"),
      {"cl2n"});
}

}  // namespace protocom::methods
