#include "training_options.h"

#include <fmt/format.h>

#include "interrupt.h"

namespace protocom::cli {
namespace {

/// Returns "60, 80 and 90 %".
std::string percent(const std::vector<double>& fractions) {
  std::string text;
  for (size_t i = 0; i < fractions.size(); ++i) {
    if (i > 0) text += i + 1 < fractions.size() ? ", " : " and ";
    text += fmt::format("{:g}", 100 * fractions[i]);
  }
  return text + " %";
}

}  // namespace

void add_recipe_options(CLI::App& command, Schedule& schedule, SgdOptions& sgd) {
  command.add_option(
      "--epochs", schedule.epochs,
      fmt::format("Epochs; stepwise, the rate falls by 10 after {} of them", percent(schedule.milestones)));
  command.add_option("--lr", schedule.learning_rate, "Learning rate of the first epochs");
  command.add_option("--momentum", sgd.momentum, "Nesterov momentum");
  command.add_option("--weight-decay", sgd.weight_decay, "Weight decay");
}

std::string describe_shapes(const Schedule& schedule) {
  return fmt::format("step (times 0.1 at {} of the epochs), cosine (falling each epoch) or cosine-steps (each step)",
                     percent(schedule.milestones));
}

void add_validation_options(CLI::App& command, ValidationOptions& validation) {
  command.add_option("--val-episodes", validation.episodes,
                     fmt::format("Validation episodes ({}-way); 0: none", validation.shape.n_way));
  command.add_option("--val-every", validation.every, "Epochs between validations");
}

void add_training_options(CLI::App& command, TrainingOptions& options) {
  command.add_flag("--resume", options.resume,
                   "Continue from OUT.last if it exists; the result is that of an uninterrupted run");
  command
      .add_option("--checkpoint-every", options.checkpoint_seconds,
                  "Seconds between writes of OUT.last within an epoch; it is also written after each epoch")
      ->check(CLI::Range(0.0, 1e9));
}

TrainingFiles training_files(const std::string& out, const TrainingOptions& options, Provenance provenance) {
  TrainingFiles files;
  files.out = out;
  files.resume = options.resume ? Resume::kIfThere : Resume::kNo;
  files.checkpoint_seconds = options.checkpoint_seconds;
  files.stop = &stop_signal();
  provenance.options.erase("resume");
  provenance.options.erase("checkpoint-every");
  files.provenance = std::move(provenance);
  return files;
}

}  // namespace protocom::cli
