#include <algorithm>
#include <vector>

#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/information_kernels.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 15;
  int64_t steps = 100;
  double learning_rate = 1e-3;
};

/// A cosine classifier fitted on the supports, which are at unit length. What has a number for each support lies class
/// by class, [n, stride].
class BaselinePpRun : public TaskRun {
 public:
  explicit BaselinePpRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    place_class_means(task, weights_);
    begin(task);
    for (int64_t number = 1; number <= options_.steps; ++number) step(task, number);
    place_cosines(task, task.first_query(), task.queries, weights_, logits);
    scale_logits(task, options_.scale, logits);
  }
  [[nodiscard]] const float* prototypes() const override { return weights_.data(); }

 private:
  void begin(const Task& task) {
    const auto numbers = static_cast<size_t>(task.n * task.dim);
    weights_.resize(numbers);
    pull_.resize(numbers);
    first_.assign(numbers, 0.0F);
    second_.assign(numbers, 0.0F);
    stride_ = padded_length(task.supports());
    slopes_.assign(static_cast<size_t>(task.n * stride_), 0.0F);
    place_labels(task, stride_, labels_);
    squares_.resize(static_cast<size_t>(task.n));
    rows_.clear();
    for (int64_t k = 0; k < task.n; ++k) rows_.push_back(weights_.data() + k * task.dim);
  }

  void step(const Task& task, int64_t number) {
    const int64_t n = task.n, dim = task.dim, supports = task.supports();
    place_slopes(task);
    sums_of_rows({task.rows.data(), supports, slopes_.data(), n, stride_, dim}, pull_.data());
    AdamStep adam = adam_at(number, options_.learning_rate, dim);
    for (int64_t k = 0; k < n; ++k) {
      float* weights = weights_.data() + k * dim;
      const float square = squares_[static_cast<size_t>(k)];
      adam.pull = pull_.data() + k * dim;
      // Through u = w / |w|: what is left of the gradient across u, over |w|.
      adam.push = row_dot(weights, adam.pull, dim) / std::max(square, kTiny);
      adam.factor = static_cast<float>(options_.scale) / static_cast<float>(supports) * inverse_root(square);
      adam.first = first_.data() + k * dim;
      adam.second = second_.data() + k * dim;
      adam_step(adam, weights);
    }
  }

  /// Slopes of the supports' cross-entropies in scale * cosine.
  void place_slopes(const Task& task) {
    const int64_t n = task.n, supports = task.supports();
    products_of_rows({rows_.data(), n, task.rows.data(), supports, task.dim, stride_}, slopes_.data());
    for (int64_t k = 0; k < n; ++k) {
      float& square = squares_[static_cast<size_t>(k)];
      square = row_dot(rows_[static_cast<size_t>(k)], rows_[static_cast<size_t>(k)], task.dim);
      const float factor = static_cast<float>(options_.scale) * inverse_root(square);
      for (int64_t i = 0; i < supports; ++i) slopes_[static_cast<size_t>(k * stride_ + i)] *= factor;
    }
    exponentials_of_classes(slopes_.data(), n, stride_);
    shares_of_classes(nullptr, slopes_.data(), n, stride_);
    place_residuals(labels_, n, stride_, slopes_);
  }

  static constexpr float kTiny = 1e-24F;

  Options options_;
  int64_t stride_ = 0;
  std::vector<const float*> rows_;          // [n], of the weights
  Floats weights_, pull_, first_, second_;  // [n, dim], the last two Adam's moments
  Floats slopes_, labels_;                  // [n, stride]
  Floats squares_;                          // [n], squared lengths of the weights
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
