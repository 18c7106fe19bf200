#pragma once
#include <functional>
#include <vector>

#include "fewshot/plda_tasks.h"

namespace protocom {

/// Scores [b, q, n] of a method.
using TaskScoring = std::function<at::Tensor(const PldaTasks&)>;

TaskScoring inductive_scores(double volume = 1);
TaskScoring transductive_scores(const PldaVbOptions& options);

/// Both distributions of queries that settings are chosen with.
const std::vector<TaskQueries>& all_query_kinds();

struct ProbabilityTasks {
  bool described = false;  ///< whether anything is known of classes without images
  int64_t tasks = 60;      ///< of each shape, over all parts
  uint64_t seed = 1;
};

/// One factor of the log determinants (PldaModel::volume), by the least log loss of any scale on tasks of held-out
/// classes that have 1 to 5 images each; 1 where they have too few.
struct VolumeTrial {
  double volume = 1;
  double loss = 0;  ///< nats
};
/// All that were tried, the best one first; none where no class can have more images than another.
std::vector<VolumeTrial> try_volumes(const std::vector<HeldOutClasses>& parts, const ProbabilityTasks& options);

/// Sets the model's scales by the least log loss on tasks of held-out classes with 0, 1 and 5 labelled images (as many
/// as there are, where that is less), and slope and offset of P(known) by logistic regression on tasks in which half of
/// the classes are not given, with the model's volume. Does nothing where the classes have one image only.
void set_probabilities(const std::vector<HeldOutClasses>& parts, const ProbabilityTasks& options, PldaModel& model);

}  // namespace protocom
