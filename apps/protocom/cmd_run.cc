#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>

#include "cli.h"
#include "interrupt.h"
#include "protocom/core/unfinished.h"
#include "run/config.h"
#include "run/plan.h"
#include "terminal_progress.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string config, out;
  std::vector<std::string> settings;
  bool dry_run = false;
  bool commands = false;
};

/// Keeps a second run out of the same folder.
class FolderLock {
 public:
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

/// What would be done and why. A stage after one that runs may still be skipped, when that one gives what it gave
/// before.
void print_plan(const RunConfig& config, const std::vector<Stage>& stages) {
  std::vector<std::vector<std::string>> rows = {{"stage", "action", "why", "artefact"}};
  std::set<std::string> remade;
  for (const Stage& stage : stages) {
    std::optional<std::string> reason = reason_to_run(stage, read_record(record_path(config.out, stage)));
    for (const std::string& input : stage.inputs) {
      for (const std::string& path : stage.options.at(input).values) {
        if (remade.count(path) > 0 && (!reason || *reason == input + " changed"))
          reason = fmt::format("{} is made anew", input);
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

/// Whether the stage was cut off while doing exactly this.
bool was_cut_off(const fs::path& out, const Stage& stage, const StageRecord& now) {
  const auto started = read_record(started_path(out, stage));
  return started && !difference(*started, now);
}

void execute(const RunConfig& config, const Stage& stage, std::vector<std::string> arguments) {
  const auto app = make_stage_app();
  try {
    parse_and_run(*app, std::move(arguments));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: [{}] {}", config.where(stage.line), stage.id, error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}: [{}] {}", config.where(stage.line), stage.id, describe_parse_error(*app, error)));
  } catch (const Error& error) {
    throw Error(fmt::format("[{}] {}", stage.id, error.what()));
  } catch (const Interrupted& interrupted) {
    throw Interrupted(interrupted.signal(), fmt::format("[{}] stopped by {}; run the same command again to go on",
                                                        stage.id, signal_name(interrupted.signal())));
  }
}

/// A folder that an earlier run made is in the way of the command that makes it anew, and the state of a training with
/// other options must not be taken for the new one's.
void clear_old_artefact(const Stage& stage, const std::optional<StageRecord>& before) {
  if (before && fs::is_directory(stage.artefact)) fs::remove_all(stage.artefact);
  if (!stage.can_resume) return;
  for (const char* end : {".last", ".last.previous"}) fs::remove(stage.artefact.string() + end);
}

void run_stage(const RunConfig& config, const Stage& stage) {
  const fs::path record_file = record_path(config.out, stage);
  const auto before = read_record(record_file);
  const auto reason = reason_to_run(stage, before);
  if (!reason) {
    fmt::print("== {}: up to date ({})\n", stage.id, stage.artefact.string());
    return;
  }
  StageRecord record = record_of(stage);
  std::vector<std::string> arguments = stage.arguments();
  const bool resume = stage.can_resume && was_cut_off(config.out, stage, record);
  if (resume) arguments.emplace_back("--resume");
  fmt::print("== {}: {}\n", stage.id, resume ? "goes on where it was cut off" : *reason);
  std::fflush(stdout);
  for (const std::string& output : stage.outputs) {
    for (const std::string& path : stage.options.at(output).values) remove_leftovers(path);
  }
  if (!resume) clear_old_artefact(stage, before);
  write_file(started_path(config.out, stage),
             record.to_json().dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  const auto begun = std::chrono::steady_clock::now();
  execute(config, stage, std::move(arguments));
  add_outputs(record, stage);
  write_file(record_file, record.to_json().dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  fs::remove(started_path(config.out, stage));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  fmt::print("   {}, {}\n", stage.artefact.string(), format_duration(seconds));
  std::fflush(stdout);
}

void run_run(const Options& options) {
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
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "run", "All stages of a configuration, from images to report; what is up to date is skipped",
                  "protocom run configs/cub-100.toml --set data=/data/CUB --set pretrain.epochs=20");
  command->add_option("config", options->config, "TOML file: a table a stage, keys are the options of its command")
      ->required();
  command
      ->add_option("--set", options->settings,
                   "name=value sets ${name}; stage.option=value, out= and seed= replace what the file says")
      ->expected(1)
      ->take_all();
  command->add_option("--out", options->out,
                      "Folder of the artefacts instead of the configuration's; relative to the current folder");
  command->add_flag("--dry-run", options->dry_run, "Show what would run and why, and do nothing");
  command->add_flag("--commands", options->commands, "Print the stages as command lines, and do nothing");
  command->callback([options] { run_run(*options); });
}

const Command kRegister{Order::kRun, &add_run_command};

}  // namespace
}  // namespace protocom::cli
