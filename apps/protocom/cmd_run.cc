#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "cli.h"
#include "interrupt.h"
#include "run/config.h"
#include "run/execute.h"
#include "run/plan.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

/// Keeps a second run out of the same folder for its lifetime.
class FolderLock {
 public:
  /// Throws Error if the folder cannot be opened or is locked.
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("cannot open the folder {}: {}", folder.string(), std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(descriptor_);
    fail("another protocom run is already running in {}", folder.parent_path().string());
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

struct RunArguments {
  std::string config, out;
  std::vector<std::string> settings;
  bool dry_run = false;
  bool commands = false;
};

/// Prints what would be done and why. A stage after one that runs may still be skipped, if that one reproduces its
/// previous result.
void print_plan(const RunConfig& config, const std::vector<Stage>& stages) {
  std::vector<std::vector<std::string>> rows = {{"stage", "action", "why", "artefact"}};
  std::set<std::string> remade;
  for (const Stage& stage : stages) {
    std::optional<std::string> reason = reason_to_run(stage, read_record(record_path(config.out, stage)));
    for (const std::string& input : stage.inputs) {
      for (const std::string& path : stage.options.at(input).values) {
        if (remade.count(path) > 0 && (!reason || *reason == input + " changed"))
          reason = fmt::format("remaking {}", input);
      }
    }
    if (reason) {
      for (const std::string& output : stage.outputs) remade.insert(stage.options.at(output).values.front());
      if (stage.command.front() == "synth")
        remade.insert({(stage.artefact / "split.csv").string(), (stage.artefact / "attributes.csv").string()});
    }
    rows.push_back({stage.id, reason ? "run" : "skip", reason.value_or("up to date"), stage.artefact.string()});
  }
  print_table(rows);
}

void print_commands(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) fmt::print("{}\n", stage.command_line());
}

void run_run(const RunArguments& options) {
  RunConfig config = read_run_config(options.config, options.settings);
  if (!options.out.empty()) config.out = options.out;
  const std::vector<Stage> stages = plan_stages(config);
  if (options.commands) return print_commands(stages);
  if (options.dry_run) return print_plan(config, stages);
  check_writable(config.out / ".stages" / "lock");
  fs::create_directories(config.out / ".stages");
  const FolderLock lock(config.out / ".stages");
  for (const Stage& stage : stages) {
    run_stage(config, stage);
    stop_if_asked();
  }
}

void add_run_command(CLI::App& app) {
  auto options = std::make_shared<RunArguments>();
  CLI::App* command = add_command(
      app, "run", "Run all stages of a configuration, from images to report; skip those that are up to date",
      "protocom run configs/cub-100.toml --set data=/data/CUB --set pretrain.epochs=20");
  add_input_option(*command, "config", options->config,
                   "TOML file: one table per stage, whose keys are the options of its command")
      ->required();
  command
      ->add_option("--set", options->settings,
                   "name=value sets ${name}; stage.option=value, out= and seed= override the file")
      ->expected(1)
      ->take_all();
  add_output_option(*command, "--out", options->out,
                    "Folder of the artefacts instead of the configuration's; relative to the current folder");
  command->add_flag("--dry-run", options->dry_run, "Show what would run and why, and do nothing");
  command->add_flag("--commands", options->commands, "Print the stages as command lines, and do nothing");
  command->callback([options] { run_run(*options); });
}

const Command kRun{Group::kFiles, 20, &add_run_command};

}  // namespace
}  // namespace protocom::cli
