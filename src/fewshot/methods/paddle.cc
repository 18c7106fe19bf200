#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double weight = 1;
  int64_t steps = 100;
  std::string transform = "none";
};

/// Scales every dimension by the range of the unlabelled images. Subtracts their mean, which changes no distance but
/// reduces the rounding of distances, which many steps would amplify. One object per thread.
class RowsInUnitsOfRange {
 public:
  /// Returns the rows, [m]; valid until the next call.
  const std::vector<const float*>& place(const Task& task) {
    if (task.unlabelled == 0) return task.rows;
    compute_mean(task, task.supports(), task.learned(), mean_);
    low_.assign(task.rows[static_cast<size_t>(task.supports())],
                task.rows[static_cast<size_t>(task.supports())] + task.dim);
    high_ = low_;
    for (int64_t i = task.supports(); i < task.learned(); ++i) {
      const float* own = task.rows[static_cast<size_t>(i)];
      for (size_t d = 0; d < low_.size(); ++d) {
        low_[d] = std::min(low_[d], own[d]);
        high_[d] = std::max(high_[d], own[d]);
      }
    }
    grow(rows_, task.points() * task.dim);
    pointers_.clear();
    for (int64_t i = 0; i < task.points(); ++i) {
      float* to = rows_.data() + i * task.dim;
      const float* own = task.rows[static_cast<size_t>(i)];
      for (size_t d = 0; d < low_.size(); ++d) {
        const float range = high_[d] - low_[d];
        to[d] = (own[d] - mean_[d]) / (range > 0 ? range : 1.0F);
      }
      pointers_.push_back(to);
    }
    return pointers_;
  }

 private:
  Floats mean_, low_, high_;  // [dim]
  Floats rows_;               // [m, dim]
  std::vector<const float*> pointers_;
};

/// Arrays are class-major, [n, stride].
class PaddleRun : public TaskRun {
 public:
  explicit PaddleRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    span_.place(ranged_.place(task), task.dim);
    const int64_t n = task.n, stride = span_.stride();
    compute_mean_coefficients(task, stride, means_);
    compute_labels(task, stride, labels_);
    dual_.assign(static_cast<size_t>(n), 0.0F);
    compute_logits(n);
    for (int64_t step = 0; step < options_.steps && task.unlabelled > 0; ++step) {
      if (step > 0) compute_logits(n);
      move_means(task);
    }
    compute_logits_of_queries(task, logits_, stride, logits);
  }

 private:
  void compute_logits(int64_t n) {
    logits_.resize(means_.size());
    span_.compute_distances(means_.data(), n, logits_.data());
    for (int64_t k = 0; k < n; ++k) {
      const float more = static_cast<float>(options_.weight) * dual_[static_cast<size_t>(k)];
      float* own = logits_.data() + k * span_.stride();
      for (int64_t i = 0; i < span_.stride(); ++i) own[i] = more - own[i] / 2;
    }
  }

  /// Updates means and the dual variable from the assignments given by the logits.
  void move_means(const Task& task) {
    constexpr float kTiny = 1e-6F;
    const int64_t n = task.n, stride = span_.stride(), first = task.supports();
    shares_ = logits_;
    exponentials_of_classes(shares_.data(), n, stride);
    shares_of_classes(nullptr, shares_.data(), n, stride);
    for (int64_t k = 0; k < n; ++k) {
      const float* own = shares_.data() + k * stride + first;
      const float mean = std::accumulate(own, own + task.unlabelled, 0.0F) / static_cast<float>(task.unlabelled);
      dual_[static_cast<size_t>(k)] = std::log(mean + kTiny) + 1;
    }
    compute_means_of_shares(task, labels_, shares_.data() + first, stride, stride, means_);
  }

  Options options_;
  RowsInUnitsOfRange ranged_;
  RowSpan span_;
  Floats means_, labels_, logits_, shares_;  // [n, stride]
  Floats dual_;                              // [n]
};

}  // namespace

MethodDefinition paddle() {
  MethodSpec spec;
  spec.name = "paddle";
  spec.about = "clusters around the supports, with a penalty for each class used";
  spec.citation =
      "Martin, Boudiaf, Chouzenoux, Pesquet, Ben Ayed: Towards Practical Few-Shot Query Sets: Transductive Minimum "
      "Description Length Inference, NeurIPS 2022";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Made for many classes of which few occur among the queries. weight is the authors’ lambda over the number of "
      "queries, 75 of 75 in their settings for mini-ImageNet. Dimensions are divided by the queries’ range, as in "
      "their code.";
  return define_task_method_in_space<PaddleRun>(std::move(spec),
                                                Parameters<Options>()
                                                    .real("weight", &Options::weight, {}, "of the classes’ proportions")
                                                    .tries({"0.3", "0.5", "2"})
                                                    .whole("steps", &Options::steps, {1, 1e5}, "of all three updates")
                                                    .tries({"20", "50"}),
                                                {"l2n", "cl2n"});
}

}  // namespace protocom::methods
