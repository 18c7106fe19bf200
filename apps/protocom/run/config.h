#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace protocom::cli {

/// Represents the folder of artefacts at the beginning of a path; the plan replaces it, not read_run_config.
inline constexpr const char* kOutVariable = "${out}";

/// The value of a key in a configuration file. `values` has one entry unless the file has an array.
struct ConfigValue {
  std::vector<std::string> values;
  bool is_flag = false;  ///< true or false in the file
  int64_t line = 0;      ///< 0: from the command line (--set)
};

/// One table: a stage and its options, by their long names.
struct StageConfig {
  std::string command;  ///< the table's name
  std::string name;     ///< key `name` of a table in an array ([[evaluate]]); else empty
  int64_t line = 0;
  std::map<std::string, ConfigValue> values;
};

/// A configuration of `protocom run` with its variables replaced.
struct RunConfig {
  std::filesystem::path file;
  std::filesystem::path out = "out";  ///< folder of the artefacts, relative to the current folder
  uint64_t seed = 1;                  ///< for every stage that does not state its own
  std::vector<StageConfig> stages;    ///< in the file's order

  /// Returns "config.toml:12", or "--set" for a value from the command line.
  [[nodiscard]] std::string where(int64_t line) const;
};

/// Reads a TOML file. `settings` are the --set arguments: `stage.option=value` replaces or adds a value, `out=` and
/// `seed=` the top-level ones, any other `name=value` sets the variable ${name}; one that names an existing file or
/// folder is made absolute, since it is relative to where the command was run. A [variables] table gives variables
/// defaults. Throws UsageError with file and line: syntax, a value that is not a text, number, boolean or list of
/// these, a variable that is not set.
RunConfig read_run_config(const std::filesystem::path& file, const std::vector<std::string>& settings);

}  // namespace protocom::cli
