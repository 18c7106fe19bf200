#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/row_length.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/rectified_rows.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 0.7;
  int64_t neighbours = 2;
  int64_t steps = 20;
  std::string prototypes = "rectified";
  std::string queries = "moved";
  std::string transform = "cl2n";
};

RectifyOptions rectify_options(const Options& options) {
  const bool moved_back = options.queries == "moved";
  if (options.prototypes == "sum") return {"sum", 1, moved_back};
  return {"mean", 10, moved_back};
}

/// Finds the smallest values of a row, among equals the first.
class Smallest {
 public:
  /// Writes the indices of the `count` smallest, at least 1 and at most `columns`, to `places`.
  void place(const float* row, int64_t columns, int64_t count, int32_t* places) {
    values_.resize(static_cast<size_t>(count));
    float* values = values_.data();
    for (int64_t k = 0; k < count; ++k) insert(row[k], k, k, values, places);
    float most = values[count - 1];
    for (int64_t k = count; k < columns; ++k) {
      if (row[k] >= most) continue;
      insert(row[k], k, count - 1, values, places);
      most = values[count - 1];
    }
  }

 private:
  /// Inserts into `before` sorted values; the value in the last place is dropped.
  static void insert(float value, int64_t k, int64_t before, float* values, int32_t* places) {
    int64_t at = before;
    for (; at > 0 && value < values[at - 1]; --at) {
      values[at] = values[at - 1];
      places[at] = places[at - 1];
    }
    values[at] = value;
    places[at] = static_cast<int32_t>(k);
  }

  Floats values_;
};

/// Finds the two smallest of a row that is padded with infinity, without an unpredictable branch per value.
void compute_two_smallest(const float* row, int64_t columns, int32_t* places) {
  const float most = second_smallest(row, padded_length(columns));
  int32_t smaller = -1;  // at most one is smaller
  int32_t equal[2] = {0, 0};
  int64_t equals = 0;
  for (int64_t k = 0; k < columns; ++k) {
    if (!(row[k] <= most)) continue;
    const auto place = static_cast<int32_t>(k);
    if (row[k] < most) {
      smaller = place;
    } else if (equals < 2) {
      equal[equals++] = place;
    }
  }
  places[0] = smaller < 0 ? equal[0] : smaller;
  places[1] = smaller < 0 ? equal[1] : equal[0];
}

/// All vectors are in coefficients of the task's points. Arrays with a number per unlabelled image are class-major,
/// [n, stride].
class LaplacianRun : public TaskRun {
 public:
  explicit LaplacianRun(const Options& options) : options_(options), rectified_(rectify_options(options)) {}

  void answer(const Task& task, float* logits) override {
    const int64_t n = task.n, first = task.supports(), queries = task.first_query();
    span_.place(task.rows, task.dim);
    compute_mean_coefficients(task, span_.stride(), means_);
    const bool rectifies = options_.prototypes != "mean";
    distances_.resize(means_.size());
    span_.compute_distances((rectifies ? rectified_.place(task, span_, means_) : means_).data(), n, distances_.data());
    stride_ = padded_length(task.unlabelled);
    alone_.assign(static_cast<size_t>(n * stride_), 0.0F);
    for (int64_t k = 0; k < n; ++k) {
      const float* from = distances_.data() + k * span_.stride() + first;
      std::transform(from, from + task.unlabelled, alone_.data() + k * stride_, std::negate<>());
    }
    compute_neighbours(task);
    update(n, task.unlabelled);
    if (queries != first) return answer_beside_pool(task, logits);
    for (int64_t k = 0; k < n; ++k) {
      const float* own = logits_.data() + k * stride_;
      for (int64_t i = 0; i < task.queries; ++i) logits[i * n + k] = own[i];
    }
  }

 private:
  /// Finds each unlabelled image's nearest others.
  void compute_neighbours(const Task& task) {
    const int64_t u = task.unlabelled;
    count_ = std::min(options_.neighbours, u - 1);
    if (count_ < 1) return;
    near_.resize(static_cast<size_t>(u * count_));
    for (int64_t i = 0; i < u; ++i) {
      compute_to_others(task, task.supports() + i);
      to_others_[static_cast<size_t>(i)] = std::numeric_limits<float>::infinity();
      if (count_ == 2) {
        compute_two_smallest(to_others_.data(), u, near_.data() + 2 * i);
      } else {
        smallest_.place(to_others_.data(), u, count_, near_.data() + i * count_);
      }
    }
  }

  /// Computes a point's squared distances to the unlabelled images, minus its own squared length.
  void compute_to_others(const Task& task, int64_t point) {
    to_others_.resize(static_cast<size_t>(padded_length(task.unlabelled)), std::numeric_limits<float>::infinity());
    const float* inner = span_.inner(point) + task.supports();
    const float* squares = task.squares.data() + task.supports();
    float* to = to_others_.data();
    for (int64_t j = 0; j < task.unlabelled; ++j) to[j] = squares[j] - 2 * inner[j];
  }

  /// Runs all steps of equation 8.
  void update(int64_t n, int64_t u) {
    logits_ = answers_ = alone_;
    softmax(n);
    for (int64_t step = 0; step < options_.steps; ++step) {
      for (int64_t k = 0; k < n && count_ > 0; ++k) {
        if (count_ == 2) {
          compute_logits<2>(k * stride_, u);
        } else {
          compute_logits<0>(k * stride_, u);
        }
      }
      answers_ = logits_;
      softmax(n);
    }
  }

  /// Computes the logits of the class whose row begins at `from`; kCount: number of neighbours, 0: any.
  template <int64_t kCount>
  void compute_logits(int64_t from, int64_t u) {
    const auto lambda = static_cast<float>(options_.lambda);
    const float* answers = answers_.data() + from;
    const float* alone = alone_.data() + from;
    const int32_t* near = near_.data();
    float* own = logits_.data() + from;
    const int64_t count = kCount > 0 ? kCount : count_;
    for (int64_t i = 0; i < u; ++i, near += count) own[i] = alone[i] + lambda * sum_of(answers, near, count);
  }

  static float sum_of(const float* values, const int32_t* places, int64_t count) {
    float sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += values[places[j]];
    return sum;
  }

  void softmax(int64_t n) {
    exponentials_of_classes(answers_.data(), n, stride_);
    shares_of_classes(nullptr, answers_.data(), n, stride_);
  }

  void answer_beside_pool(const Task& task, float* logits) {
    const int64_t n = task.n, first = task.first_query();
    const int64_t count = std::min(options_.neighbours, task.unlabelled);
    std::vector<int32_t> near(static_cast<size_t>(count));
    for (int64_t i = 0; i < task.queries; ++i) {
      compute_to_others(task, first + i);
      smallest_.place(to_others_.data(), task.unlabelled, count, near.data());
      for (int64_t k = 0; k < n; ++k) {
        logits[i * n + k] =
            static_cast<float>(options_.lambda) * sum_of(answers_.data() + k * stride_, near.data(), count) -
            distances_[static_cast<size_t>(k * span_.stride() + first + i)];
      }
    }
  }

  Options options_;
  RectifiedSpan rectified_;
  RowSpan span_;
  Smallest smallest_;
  int64_t stride_ = 0, count_ = 0;
  Floats means_, distances_;         // [n, span's stride], coefficients and distances of all points
  Floats to_others_;                 // [u]
  Floats alone_, logits_, answers_;  // [n, stride]
  std::vector<int32_t> near_;        // [u, count]
};

}  // namespace

MethodDefinition laplacian_shot() {
  MethodSpec spec;
  spec.name = "laplacian-shot";
  spec.about = "nearest prototype, with neighbouring queries pulled to the same class";
  spec.citation = "Ziko, Dolz, Granger, Ben Ayed: Laplacian Regularized Few-Shot Learning, ICML 2020";
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Equations 6 to 8, always all steps. Prototypes are rectified as in bd-cspn (variant mean), and queries moved by "
      "the difference of the means, as the authors do; Veilleux et al. (NeurIPS 2021) answer the queries unmoved "
      "(queries=unmoved) and do not rectify where these are unbalanced (prototypes=mean). prototypes=sum rectifies as "
      "bd-cspn:variant=sum:scale=1 (with queries=unmoved as in easyfsl). The authors choose lambda on val among .1, "
      ".3, .5, .7, .8, 1, 1.2, 1.5.";
  return define_task_method_in_space<LaplacianRun>(
      std::move(spec),
      Parameters<Options>()
          .choice("prototypes", &Options::prototypes, {"rectified", "mean", "sum"}, "see notes")
          .tries({"mean"})
          .choice("queries", &Options::queries, {"moved", "unmoved"}, "beside rectified prototypes")
          .tries({"unmoved"})
          .real("lambda", &Options::lambda, {}, "pull of each neighbour")
          .tries({"0.1", "0.3", "0.5", "0.8", "1", "1.2", "1.5"})
          .whole("neighbours", &Options::neighbours, {1, 1e6}, "nearest others of a query")
          .tries({"1", "3", "5"})
          .whole("steps", &Options::steps, {0, 1e5}, "updates of all assignments"),
      {"l2n"});
}

}  // namespace protocom::methods
