#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "training/schedule.h"
#include "training/training_files.h"
#include "training/validation.h"

namespace protocom::cli {

/// The options for saving and resuming, common to all training commands.
struct TrainingOptions {
  bool resume = false;
  double checkpoint_seconds = TrainingFiles{}.checkpoint_seconds;
};

/// Adds --resume and --checkpoint-every.
void add_training_options(CLI::App& command, TrainingOptions& options);

/// Adds --epochs, --lr, --momentum and --weight-decay.
void add_recipe_options(CLI::App& command, Schedule& schedule, SgdOptions& sgd);

/// Returns "step (times 0.1 at 60, 80 and 90 % of the epochs) or cosine", with the milestones of `schedule`.
std::string describe_shapes(const Schedule& schedule);

/// Adds --val-episodes and --val-every.
void add_validation_options(CLI::App& command, ValidationOptions& validation);

/// Returns the files of a training that makes `out`, which Ctrl-C stops. Removes these two options from `provenance`: a
/// training that was interrupted and resumed makes the same bytes as one that was not.
TrainingFiles training_files(const std::string& out, const TrainingOptions& options, Provenance provenance);

}  // namespace protocom::cli
