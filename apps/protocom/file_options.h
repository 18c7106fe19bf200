#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace protocom::cli {

/// What the value of an option is, said where the option is declared: `add_option(...)->type_name(kInput)`. Checks
/// against overwriting, the paths of `protocom run`, what processes of a job compare, and --help follow from it.
inline constexpr const char* kInput = "PATH";     ///< files or folders to read
inline constexpr const char* kOutput = "OUTPUT";  ///< files or folders to write

bool is_input(const CLI::Option& option);
bool is_output(const CLI::Option& option);

/// The name of an option without its dashes, or of a positional.
std::string long_name(const CLI::Option& option);

/// Throws UsageError for an output without a name, one that is also an input, and one that is given twice, before any
/// work is done.
void check_file_options(const CLI::App& command);

}  // namespace protocom::cli
