#include <algorithm>
#include <cmath>

#include "fewshot/row_kernels.h"
#include "fewshot/row_length.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/information_descent.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/task_method.h"
#include "fewshot/toolbox/detail/task_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string variant = "adm";
  double temperature = 15;
  double cross_entropy = 0.1;
  double marginal = 1;
  double conditional = 0.1;
  int64_t steps = 0;
  double learning_rate = 1e-4;
  std::string logits = "euclidean";
  std::string transform = "l2n";
};

constexpr int64_t kStepsOfAdm = 150;
constexpr int64_t kStepsOfGd = 1000;

/// TIM-ADM (section 2.3 of the paper) in coefficients of the task's points. Arrays are class-major, [n, stride].
class AlternatingSteps {
 public:
  void answer(const Task& task, const Options& options, int64_t steps, float* logits) {
    span_.place(task.rows, task.dim);
    begin(task, options);
    for (int64_t i = 0; i < steps && task.unlabelled > 0; ++i) step(task, options);
    compute_logits(task.n, options.temperature);
    compute_logits_of_queries(task, logits_, span_.stride(), logits);
  }

 private:
  void begin(const Task& task, const Options& options) {
    compute_mean_coefficients(task, span_.stride(), weights_);
    const auto supports = static_cast<double>(task.supports());
    of_support_ = static_cast<float>(options.cross_entropy / (1 + options.conditional));
    of_unlabelled_ = static_cast<float>(supports / static_cast<double>(std::max<int64_t>(task.unlabelled, 1)));
    logits_.resize(weights_.size());
    stride_ = padded_length(task.unlabelled);
    latent_.assign(static_cast<size_t>(task.n * stride_), 0.0F);
    powers_.assign(static_cast<size_t>(stride_), 0.0F);
  }

  /// Computes temperature (x.w - |w|^2 / 2) for all points.
  void compute_logits(int64_t n, double temperature) {
    const int64_t stride = span_.stride();
    span_.compute_products(weights_.data(), n, logits_.data());
    for (int64_t k = 0; k < n; ++k) {
      float* own = logits_.data() + k * stride;
      const float half = row_dot(weights_.data() + k * stride, own, stride) / 2;
      for (int64_t i = 0; i < stride; ++i) own[i] = static_cast<float>(temperature) * (own[i] - half);
    }
  }

  void step(const Task& task, const Options& options) {
    const int64_t n = task.n, stride = span_.stride(), supports = task.supports();
    compute_logits(n, options.temperature);
    compute_latent(task, options);
    exponentials_of_classes(logits_.data(), n, stride);
    shares_of_classes(nullptr, logits_.data(), n, stride);
    for (int64_t k = 0; k < n; ++k) {
      // The pull on each class: labels and latent assignments, minus the probabilities, each with its weight.
      const float* p = logits_.data() + k * stride;
      const float* latent = latent_.data() + k * stride_;
      float* weight = weights_.data() + k * stride;
      float pull = 0, push = 0;
      for (int64_t i = 0; i < supports; ++i) {
        push += of_support_ * p[i];
        if (task.label[static_cast<size_t>(i)] == k) pull += of_support_;
      }
      for (int64_t i = 0; i < task.unlabelled; ++i) {
        push += of_unlabelled_ * p[supports + i];
        pull += of_unlabelled_ * latent[i];
      }
      for (int64_t i = 0; i < task.learned(); ++i) {
        const bool labelled = i < supports;
        const float target =
            labelled ? static_cast<float>(task.label[static_cast<size_t>(i)] == k) : latent[i - supports];
        weight[i] = (weight[i] * push + (labelled ? of_support_ : of_unlabelled_) * (target - p[i])) / pull;
      }
    }
  }

  /// Computes q ~ p^(1 + conditional) / (sum over queries of that)^(marginal / (1 + marginal)), normalised over the
  /// classes.
  void compute_latent(const Task& task, const Options& options) {
    const int64_t n = task.n, u = task.unlabelled;
    const auto sharp = static_cast<float>(1 + options.conditional);
    for (int64_t k = 0; k < n; ++k)
      std::copy_n(logits_.data() + k * span_.stride() + task.supports(), u, latent_.data() + k * stride_);
    // p^sharp = e^(sharp (logit - most)) / (sum of e^(logit - most))^sharp
    totals_ = latent_;
    exponentials_of_classes(totals_.data(), n, stride_);
    for (int64_t i = 0; i < u; ++i) {
      float total = 0;
      for (int64_t k = 0; k < n; ++k) total += totals_[static_cast<size_t>(k * stride_ + i)];
      powers_[static_cast<size_t>(i)] = std::pow(total, -sharp);
    }
    for (float& value : latent_) value *= sharp;
    exponentials_of_classes(latent_.data(), n, stride_);
    const double power = options.marginal / (1 + options.marginal);
    factors_.resize(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) {
      const double sum = row_dot(latent_.data() + k * stride_, powers_.data(), stride_);
      factors_[static_cast<size_t>(k)] = static_cast<float>(std::pow(std::max(sum, 1e-30), -power));
    }
    shares_of_classes(factors_.data(), latent_.data(), n, stride_);
  }

  RowSpan span_;
  float of_support_ = 0, of_unlabelled_ = 0;
  int64_t stride_ = 0;                // for the unlabelled images
  Floats weights_, logits_;           // [n, span's stride]
  Floats latent_, totals_, factors_;  // [n, stride], [n, stride], [n]
  Floats powers_;                     // [stride]
};

int64_t steps_of(const Options& options) {
  if (options.steps > 0) return options.steps;
  return options.variant == "adm" ? kStepsOfAdm : kStepsOfGd;
}

InformationLoss loss_of(const Options& options) {
  return {options.temperature, options.cross_entropy, options.marginal, options.conditional};
}

LogitForm form_of(const Options& options) {
  if (options.logits == "cosine") return LogitForm::kCosine;
  return options.logits == "distance" ? LogitForm::kDistance : LogitForm::kEuclidean;
}

class TimRun : public TaskRun {
 public:
  explicit TimRun(const Options& options) : options_(options) {}

  void answer(const Task& task, float* logits) override {
    const int64_t steps = steps_of(options_);
    if (options_.variant == "adm") return alternating_.answer(task, options_, steps, logits);
    answer_by_information(task, loss_of(options_), {options_.learning_rate, steps, form_of(options_)}, logits);
  }

 private:
  Options options_;
  AlternatingSteps alternating_;
};

}  // namespace

MethodDefinition tim() {
  MethodSpec spec;
  spec.name = "tim";
  spec.about = "classifier with the largest mutual information between queries and their predicted classes";
  spec.citation =
      "Boudiaf, Ziko, Rony, Dolz, Piantanida, Ben Ayed: Transductive Information Maximization for Few-Shot Learning, "
      "NeurIPS 2020";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "variant=adm is the authors’ closed-form TIM-ADM, variant=gd their TIM-GD by Adam. Weights of the loss are the "
      "authors’ (.1, 1, .1); Veilleux et al. (NeurIPS 2021) use 1, 10, 1 for balanced and 1, 1, 1 for unbalanced "
      "queries with variant=gd. Rewards answers that use all classes equally.";
  return define_task_method_in_space<TimRun>(
      std::move(spec),
      Parameters<Options>()
          .choice("variant", &Options::variant, {"adm", "gd"}, "alternating closed-form steps, or gradient descent")
          .real("temperature", &Options::temperature, {1e-6}, "factor of the logits")
          .tries({"10", "30", "60"})
          .real("cross_entropy", &Options::cross_entropy, {1e-6}, "weight of the supports’ cross-entropy")
          .tries({"1"})
          .real("marginal", &Options::marginal, {}, "weight of the entropy of the queries’ mean answer")
          .tries({"0.3", "3", "10"})
          .real("conditional", &Options::conditional, {}, "weight of the mean entropy of the queries’ answers")
          .tries({"0.5", "1"})
          .whole("steps", &Options::steps, {0, 1e6}, "0: the published number, 150 for adm and 1000 for gd")
          .real("learning_rate", &Options::learning_rate, {1e-8, 1}, "of Adam, variant=gd")
          .choice("logits", &Options::logits, {"euclidean", "cosine", "distance"},
                  "variant=gd: minus half the squared distance (the authors’) or, as in easyfsl, the cosine or minus "
                  "the distance"),
      {"cl2n"});
}

}  // namespace protocom::methods
