#include "run/execute.h"

#include <chrono>

#include "base/json_text.h"
#include "cli.h"
#include "interrupt.h"
#include "io/unfinished.h"
#include "terminal_progress.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

/// Whether the stage was interrupted with the same options and inputs.
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
    throw Interrupted(interrupted.signal(), fmt::format("[{}] stopped by {}; run the same command again to continue",
                                                        stage.id, signal_name(interrupted.signal())));
  }
}

/// Removes a folder made by an earlier run, which would block the command that makes it again, and the state of a
/// training with other options, which must not be resumed. A folder named by the stage itself may have other files too.
void clear_old_artefact(const RunConfig& config, const Stage& stage, const std::optional<StageRecord>& before) {
  const fs::path within = fs::weakly_canonical(stage.artefact).lexically_relative(fs::weakly_canonical(config.out));
  const bool is_of_run = !within.empty() && within != "." && *within.begin() != "..";
  if (before && is_of_run && fs::is_directory(stage.artefact)) fs::remove_all(stage.artefact);
  if (!stage.can_resume) return;
  for (const char* end : {".last", ".last.previous"}) fs::remove(stage.artefact.string() + end);
}

}  // namespace

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
  fmt::print("== {}: {}\n", stage.id, resume ? "resumes where it was interrupted" : *reason);
  std::fflush(stdout);
  for (const std::string& output : stage.outputs) {
    for (const std::string& path : stage.options.at(output).values) remove_leftovers(path);
  }
  if (!resume) clear_old_artefact(config, stage, before);
  write_file(started_path(config.out, stage), json_text(record.to_json(), 2));
  const auto begun = std::chrono::steady_clock::now();
  execute(config, stage, std::move(arguments));
  add_outputs(record, stage);
  write_file(record_file, json_text(record.to_json(), 2) + "\n");
  fs::remove(started_path(config.out, stage));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  fmt::print("   {}, {}\n", stage.artefact.string(), format_duration(seconds));
  std::fflush(stdout);
}

}  // namespace protocom::cli
