#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "run/config.h"

namespace protocom::cli {

/// A stage of `protocom run` with all inputs connected: one command line.
struct Stage {
  std::string id;                    ///< "evaluate", or "evaluate-5shot" for a named one; the name of its record
  std::vector<std::string> command;  ///< {"knowledge", "wordnet"}
  int64_t line = 0;                  ///< of its table in the configuration
  std::map<std::string, ConfigValue> options;  ///< by long name; paths already resolved
  std::vector<std::string> inputs;             ///< `options` that name files to read
  std::vector<std::string> outputs;            ///< `options` that name files to write
  std::vector<std::string> positionals;        ///< options given without their name
  std::filesystem::path artefact;              ///< the artefact that later stages use
  bool can_resume = false;                     ///< whether the command has --resume

  /// The command line, without the program's name.
  [[nodiscard]] std::vector<std::string> arguments() const;
  /// The command line for display, "protocom pack --images=...".
  [[nodiscard]] std::string command_line() const;
};

/// Returns the stages of a configuration in the order of the method, each connected to the artefacts of earlier ones.
/// Throws UsageError with file and line for a table that is not a stage, a key that is not an option of its command, or
/// a value its command refuses.
std::vector<Stage> plan_stages(const RunConfig& config);

/// What a stage was made from: compared to decide whether it must run again.
struct StageRecord {
  std::string program_version;
  nlohmann::json options;                      ///< options that are neither inputs nor outputs
  std::map<std::string, std::string> inputs;   ///< option -> hash
  std::map<std::string, std::string> outputs;  ///< option -> hash; empty until the stage has finished

  [[nodiscard]] nlohmann::json to_json() const;
};

/// Returns the record that a stage would get now; hashes its inputs. A missing input hashes to "missing".
StageRecord record_of(const Stage& stage);

/// Adds the hashes of the stage's outputs.
void add_outputs(StageRecord& record, const Stage& stage);

/// Returns the path of a stage's record; `.started` records exist while a stage runs, or if it was interrupted.
std::filesystem::path record_path(const std::filesystem::path& out, const Stage& stage);
std::filesystem::path started_path(const std::filesystem::path& out, const Stage& stage);

/// Reads a record; nothing if there is none or it is damaged (the stage then runs again).
std::optional<StageRecord> read_record(const std::filesystem::path& path);

/// Returns why the stage must run although `before` was recorded, in a few words; nothing if it is up to date.
std::optional<std::string> reason_to_run(const Stage& stage, const std::optional<StageRecord>& before);

/// Returns the difference between two records apart from their outputs; nothing if there is none.
std::optional<std::string> difference(const StageRecord& before, const StageRecord& now);

}  // namespace protocom::cli
