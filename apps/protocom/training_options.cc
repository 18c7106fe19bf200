#include "training_options.h"

#include "interrupt.h"

namespace protocom::cli {

void add_training_options(CLI::App& command, TrainingOptions& options) {
  command.add_flag("--resume", options.resume,
                   "Go on from OUT.last when it is there; the result is as if nothing had happened");
  command
      .add_option("--checkpoint-every", options.checkpoint_seconds,
                  "Seconds between two savings of OUT.last within an epoch; the end of an epoch always has one")
      ->check(CLI::NonNegativeNumber);
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
