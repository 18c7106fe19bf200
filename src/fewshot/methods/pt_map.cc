#include <algorithm>
#include <cmath>
#include <vector>

#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
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

/// Supports less their mean, unlabelled images (and queries) less the unlabelled images' mean, then unit length.
/// Without unlabelled images: the points as they are. One per thread.
class CentredRows {
 public:
  /// [m]; valid until the next call.
  const std::vector<const float*>& place(const Task& task);

 private:
  void place_apart(const Task& task, int64_t begin, int64_t end);

  Floats centre_;  // [dim]
  Floats rows_;    // [m, dim]
  std::vector<const float*> pointers_;
};

const std::vector<const float*>& CentredRows::place(const Task& task) {
  if (task.unlabelled == 0) return task.rows;
  const int64_t supports = task.supports();
  grow(rows_, task.points() * task.dim);
  pointers_.clear();
  place_mean(task, 0, supports, centre_);
  place_apart(task, 0, supports);
  place_mean(task, supports, task.learned(), centre_);
  place_apart(task, supports, task.points());
  return pointers_;
}

void CentredRows::place_apart(const Task& task, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float* own = rows_.data() + i * task.dim;
    unit_row(task.rows[static_cast<size_t>(i)], centre_.data(), task.dim, own);
    pointers_.push_back(own);
  }
}

/// Arrays with a number for each point lie class by class, [n, stride].
class PtMapRun : public TaskRun {
 public:
  explicit PtMapRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    span_.place(centred_.place(task), task.dim);
    const int64_t stride = span_.stride();
    Floats means;
    place_mean_coefficients(task, stride, means);
    place_labels(task, stride, labels_);
    for (int64_t step = 0; step < options_.steps; ++step) {
      transport(task, means);
      shares_of_classes(scales_.data(), kernel_.data(), task.n, free_stride());
      place_means_of_shares(task, labels_, kernel_.data(), free_stride(), stride, plan_);
      for (size_t i = 0; i < means.size(); ++i) means[i] += static_cast<float>(options_.rate) * (plan_[i] - means[i]);
    }
    transport(task, means);
    for (int64_t k = 0; k < task.n; ++k) {
      const float more = std::log(scales_[size_of(k)]);
      for (int64_t i = 0; i < task.queries; ++i)
        logits[i * task.n + k] = logits_[size_of(k * stride + task.first_query() + i)] + more;
    }
  }

 private:
  static size_t size_of(int64_t size) { return static_cast<size_t>(size); }
  [[nodiscard]] int64_t free_stride() const { return free_stride_; }

  /// Logits of all points, the plan's kernel of the unlabelled ones, and the scales of its columns.
  void transport(const Task& task, const Floats& means) {
    const int64_t n = task.n, u = task.unlabelled, stride = span_.stride();
    free_stride_ = padded_length(u);
    grow(logits_, n * stride);
    span_.place_distances(means.data(), n, logits_.data());
    for (int64_t i = 0; i < n * stride; ++i) logits_[size_of(i)] *= static_cast<float>(-options_.lambda);
    scales_.assign(size_of(n), 1.0F);
    if (u == 0) return;
    kernel_.resize(size_of(n * free_stride_));
    for (int64_t k = 0; k < n; ++k)
      std::copy_n(logits_.data() + k * stride + task.supports(), u, kernel_.data() + k * free_stride_);
    exponentials_of_classes(kernel_.data(), n, free_stride_);
    for (int64_t k = 0; k < n; ++k)
      std::fill(kernel_.data() + k * free_stride_ + u, kernel_.data() + (k + 1) * free_stride_, 0.0F);
    columns_.assign(size_of(n), static_cast<float>(static_cast<double>(u) / static_cast<double>(n)));
    work_.resize(size_of(2 * free_stride_));
    const SinkhornOptions sinkhorn;
    transport_scales({kernel_.data(), n, free_stride_, columns_.data(), static_cast<float>(sinkhorn.tolerance),
                      sinkhorn.most_steps, work_.data()},
                     scales_.data());
  }

  Options options_;
  CentredRows centred_;
  RowSpan span_;
  int64_t free_stride_ = 0;
  Floats labels_, plan_, logits_, kernel_, scales_, columns_, work_;
};

}  // namespace

MethodDefinition pt_map() {
  MethodSpec spec;
  spec.name = "pt-map";
  spec.about = "class means moved step by step to where optimal transport puts the queries";
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
