#include "fewshot/plda/detail/probabilities.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/vb_rows.h"

namespace protocom {
namespace {

constexpr int64_t kFewestWays = 2;  ///< of the given classes, and of the others, of a task

/// Returns the number of images of the smallest class of all parts.
int64_t fewest_images(const std::vector<HeldOutClasses>& parts) {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const HeldOutClasses& part : parts) fewest = std::min(fewest, protocom::fewest_images(part));
  return fewest;
}

/// Tasks with one number of shots.
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
      // Draws twice as many classes and takes away the second half: its queries are of no given class.
      const PldaTasks twice = draw_tasks(parts[p], {each, k_shot, TaskQueries::kBalanced, 2 * given}, rng);
      add_others(with_others(twice, given), parts[p], given);
    }
  }

  [[nodiscard]] const std::vector<PldaTasks>& tasks() const { return tasks_; }
  /// Fits the chance with `scale` as in known_ratio; returns the initial one if there are too few classes.
  [[nodiscard]] KnownChance known(double scale) const {
    if (scores_.empty()) return {};
    DoubleVector ratio(static_cast<int64_t>(known_.size()));
    int64_t first = 0;
    for (size_t i = 0; i < scores_.size(); ++i) {
      const int64_t queries = scores_[i].rows();
      ratio.segment(first, queries) = known_ratio(scores_[i].cast<double>(), none_[i].cast<double>(), scale);
      first += queries;
    }
    return fit_known_chance(ratio, Eigen::Map<const DoubleVector>(known_.data(), ratio.size()));
  }

 private:
  void add_others(const PldaTasks& tasks, const HeldOutClasses& part, int64_t given) {
    for (FloatMatrix& scores : scores_of(tasks, inductive_scores)) scores_.push_back(std::move(scores));
    for (const HeldOutTask& task : tasks.tasks) {
      none_.emplace_back(row_log_predictive(part.undescribed, task.queries).col(0));
      for (const int64_t label : task.labels) known_.push_back(label < given ? 1 : 0);
    }
  }

  std::vector<PldaTasks> tasks_;
  std::vector<FloatMatrix> scores_;    ///< for tasks in which half of the classes are not given, like the next two
  std::vector<Eigen::VectorXf> none_;  ///< [q] for each task
  std::vector<double> known_;          ///< for all queries
};

/// Returns -log softmax(scale * logits) at the labels, averaged over all queries of tasks.
double log_loss_of(const PldaTasks& tasks, const std::vector<FloatMatrix>& logits, double scale) {
  double loss = 0, count = 0;
  for (size_t t = 0; t < logits.size(); ++t) {
    const DoubleMatrix scaled = scale * logits[t].cast<double>();
    const DoubleVector most = scaled.rowwise().maxCoeff();
    const DoubleVector sums = (scaled.colwise() - most).array().exp().rowwise().sum().log().matrix() + most;
    const std::vector<int64_t>& labels = tasks.tasks[t].labels;
    for (int64_t i = 0; i < scaled.rows(); ++i) loss += sums[i] - scaled(i, labels[static_cast<size_t>(i)]);
    count += static_cast<double>(scaled.rows());
  }
  return loss / count;
}

}  // namespace

std::vector<FloatMatrix> scores_of(const PldaTasks& tasks, const TaskScoring& scores) {
  std::vector<FloatMatrix> all(tasks.tasks.size());
  parallel_each(static_cast<int64_t>(all.size()),
                [&](int64_t i) { all[static_cast<size_t>(i)] = scores(tasks, tasks.tasks[static_cast<size_t>(i)]); });
  return all;
}

ScaleTrial best_scale(const std::vector<PldaTasks>& all, const TaskScoring& scores) {
  std::vector<std::vector<FloatMatrix>> logits;
  for (const PldaTasks& tasks : all) logits.push_back(scores_of(tasks, scores));
  const auto loss_at = [&](double scale) {
    double loss = 0;
    for (size_t i = 0; i < all.size(); ++i) loss += log_loss_of(all[i], logits[i], scale);
    return loss;
  };
  // The loss is flat near its minimum: steps of 5 % miss nothing measurable.
  std::vector<double> scales = {0.02};
  while (scales.back() * 1.05 < 3) scales.push_back(scales.back() * 1.05);
  // The loss is convex, a sum of log-sum-exp of functions linear in the scale, so bisection finds the minimum of the
  // grid.
  size_t first = 0, last = scales.size() - 1;
  while (first < last) {
    const size_t middle = (first + last) / 2;
    if (loss_at(scales[middle + 1]) < loss_at(scales[middle])) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  const ScaleTrial found{scales[first], loss_at(scales[first])};
  return found.loss < ScaleTrial().loss ? found : ScaleTrial();
}

FloatMatrix inductive_scores(const PldaTasks& of, const HeldOutTask& task) {
  return log_predictives(task.prior, of.variance, task.count, task.sum, of.layout, task.queries);
}

TaskScoring transductive_scores(const PldaVbOptions& options) {
  return [options](const PldaTasks& of, const HeldOutTask& task) {
    return plda_vb_rows({task.prior, task.count, task.sum, task.queries, {}}, of.layout, options);
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
  const auto as_one = [&](double ByShots::*place) {
    for (ByShots* shots : {&model.inductive_scale, &model.transductive_scale, &model.known_slope, &model.known_offset,
                           &model.known_alike})
      shots->*place = shots->one;
  };
  set(&ByShots::one, 1);
  if (options.described) {
    set(&ByShots::none, 0);
  } else {
    as_one(&ByShots::none);
  }
  if (const int64_t most = std::clamp<int64_t>(fewest / 2, 1, 5); most > 1) {
    set(&ByShots::five, most);
  } else {
    as_one(&ByShots::five);
  }
}

}  // namespace protocom
