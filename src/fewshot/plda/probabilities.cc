#include "fewshot/plda/detail/probabilities.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/vb_rows.h"

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
      // Twice as many classes, of which the second half is taken away again: its queries are of no class that is given.
      const PldaTasks twice = draw_tasks(parts[p], {each, k_shot, TaskQueries::kBalanced, 2 * given}, rng);
      add_others(with_others(twice, given), parts[p], given);
    }
  }

  [[nodiscard]] const std::vector<PldaTasks>& tasks() const { return tasks_; }
  /// With `scale` as in known_ratio; as it is from the start where there are too few classes.
  [[nodiscard]] KnownChance known(double scale) const {
    if (scores_.empty()) return {};
    std::vector<at::Tensor> ratio;
    for (size_t i = 0; i < scores_.size(); ++i)
      ratio.push_back(known_ratio(scores_[i], none_[i], at::full({1, 1, 1}, scale)).flatten().to(at::kDouble));
    return fit_known_chance(at::cat(ratio), at::cat(known_));
  }

 private:
  void add_others(const PldaTasks& tasks, const HeldOutClasses& part, int64_t given) {
    scores_.push_back(inductive_scores(tasks));
    none_.push_back(row_log_predictive(part.nothing, tasks.queries).squeeze(-1));
    known_.push_back(tasks.labels.lt(given).flatten().to(at::kDouble));
  }

  std::vector<PldaTasks> tasks_;
  std::vector<at::Tensor> scores_;  ///< of tasks in which half of the classes are not given, as the next two
  std::vector<at::Tensor> none_;
  std::vector<at::Tensor> known_;
};

}  // namespace

ScaleTrial best_scale(const std::vector<PldaTasks>& all, const TaskScoring& scores) {
  std::vector<at::Tensor> logits;
  for (const PldaTasks& tasks : all) logits.push_back(scores(tasks));
  ScaleTrial best;
  // The loss is flat about its minimum: steps of 5 % miss nothing that could be measured.
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

at::Tensor inductive_scores(const PldaTasks& tasks) {
  const at::Tensor means = rows_of_means(row_posterior(tasks.prior, tasks.count, tasks.sum, tasks.layout));
  return row_log_predictive(row_predictive(means, row_metric(tasks.variance, tasks.count, tasks.layout)),
                            tasks.queries);
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
    const double scale = best_scale(shots.tasks(), inductive_scores).scale;
    model.inductive_scale.*place = scale;
    model.transductive_scale.*place = best_scale(shots.tasks(), transductive_scores(model.vb)).scale;
    const KnownChance known = shots.known(scale);
    model.known_slope.*place = known.slope;
    model.known_offset.*place = known.offset;
    model.known_alike.*place = known.alike;
  };
  set(&ByShots::none, options.described ? 0 : 1);
  set(&ByShots::one, 1);
  set(&ByShots::five, std::clamp<int64_t>(fewest / 2, 1, 5));
}

}  // namespace protocom
