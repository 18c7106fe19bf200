#include "fewshot/plda_probabilities.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "fewshot/plda_vb_rows.h"

namespace protocom {
namespace {

constexpr int64_t kFewestWays = 2;  ///< given classes, and others, of a task

/// Images that the smallest class of all has.
int64_t fewest_images(const std::vector<HeldOutClasses>& parts) {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const HeldOutClasses& part : parts) fewest = std::min(fewest, protocom::fewest_images(part));
  return fewest;
}

/// One number of shots.
class Shots {
 public:
  Shots(const std::vector<HeldOutClasses>& parts, const ProbabilityTasks& options, int64_t k_shot) {
    const int64_t each = options.draws.each(parts.size());
    for (size_t p = 0; p < parts.size(); ++p) {
      Rng rng = options.draws.rng(TaskPurpose::kProbabilities, p, k_shot);
      for (const TaskQueries kind : all_query_kinds())
        tasks_.push_back(draw_tasks(parts[p], {each, k_shot, kind}, rng));
      const auto classes = static_cast<int64_t>(parts[p].rows.size());
      const int64_t given = std::min<int64_t>(5, classes / 2);
      if (given < kFewestWays) continue;
      const PldaTasks twice = draw_tasks(parts[p], {each, k_shot, TaskQueries::kBalanced, 2 * given}, rng);
      add_ratios(with_others(twice, given), parts[p], given);
    }
  }

  [[nodiscard]] const std::vector<PldaTasks>& tasks() const { return tasks_; }
  /// Slope and offset of P(known); {1, 0} where there are too few classes.
  [[nodiscard]] std::pair<double, double> known() const {
    if (ratio_.empty()) return {1, 0};
    return logistic_regression(at::cat(ratio_), at::cat(known_));
  }

 private:
  void add_ratios(const PldaTasks& tasks, const HeldOutClasses& part, int64_t given) {
    const at::Tensor best = std::get<0>(inductive_scores()(tasks).max(-1));
    const at::Tensor none = row_log_predictive(part.nothing, tasks.queries).squeeze(-1);
    ratio_.push_back((best - none).flatten().to(at::kDouble));
    known_.push_back(tasks.labels.lt(given).flatten().to(at::kDouble));
  }

  std::vector<PldaTasks> tasks_;
  std::vector<at::Tensor> ratio_;
  std::vector<at::Tensor> known_;
};

}  // namespace

ScaleTrial best_scale(const std::vector<PldaTasks>& all, const TaskScoring& scores) {
  std::vector<at::Tensor> logits;
  for (const PldaTasks& tasks : all) logits.push_back(scores(tasks));
  ScaleTrial best;
  for (double scale = 0.02; scale < 3; scale *= 1.05) {
    double loss = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const at::Tensor log_p = (scale * logits[i]).log_softmax(-1);
      loss -= log_p.gather(-1, all[i].labels.unsqueeze(-1)).mean().item<double>();
    }
    if (loss < best.loss) best = {scale, loss};
  }
  return best;
}

std::pair<double, double> logistic_regression(const at::Tensor& x, const at::Tensor& is) {
  constexpr double kPenalty = 1e-3;
  constexpr int kSteps = 30;
  const double mean = x.mean().item<double>();
  const double deviation = std::max(x.std().item<double>(), 1e-12);
  const at::Tensor z = (x - mean) / deviation;
  const at::Tensor design = at::stack({z, at::ones_like(z)}, 1);
  at::Tensor weight = at::zeros({2}, at::kDouble);
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor p = at::mv(design, weight).sigmoid();
    const at::Tensor gradient = at::mv(design.t(), p - is) / x.numel() + kPenalty * weight;
    const at::Tensor curvature =
        at::mm(design.t(), design * (p * (1 - p)).unsqueeze(1)) / x.numel() + kPenalty * at::eye(2, at::kDouble);
    weight = weight - at::linalg_solve(curvature, gradient);
  }
  const double slope = weight[0].item<double>() / deviation;
  return {slope, weight[1].item<double>() - slope * mean};
}

TaskScoring inductive_scores() {
  return [](const PldaTasks& tasks) {
    const at::Tensor means = row_means(row_posterior(tasks.prior, tasks.count, tasks.sum, tasks.layout));
    return row_log_predictive(row_predictive(means, row_metric(tasks.variance, tasks.count, tasks.layout)),
                              tasks.queries);
  };
}

TaskScoring transductive_scores(const PldaVbOptions& options) {
  return [options](const PldaTasks& tasks) {
    return plda_vb_rows({tasks.prior, tasks.count, tasks.sum, tasks.queries, {}}, tasks.layout, options);
  };
}

const std::vector<TaskQueries>& all_query_kinds() {
  static const std::vector<TaskQueries> kKinds = {TaskQueries::kBalanced, TaskQueries::kDirichletHalf};
  return kKinds;
}

void set_probabilities(const std::vector<HeldOutClasses>& parts, const ProbabilityTasks& options, PldaModel& model) {
  const int64_t fewest = fewest_images(parts);
  if (fewest < 2) return;
  const auto set = [&](double ByShots::*place, int64_t k_shot) {
    const Shots shots(parts, options, k_shot);
    model.inductive_scale.*place = best_scale(shots.tasks(), inductive_scores()).scale;
    model.transductive_scale.*place = best_scale(shots.tasks(), transductive_scores(model.vb)).scale;
    std::tie(model.known_slope.*place, model.known_offset.*place) = shots.known();
  };
  set(&ByShots::none, options.described ? 0 : 1);
  set(&ByShots::one, 1);
  set(&ByShots::five, std::clamp<int64_t>(fewest / 2, 1, 5));
}

}  // namespace protocom
