#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace protocom::cli {

/// Whether an option of that name, in any command, names files or folders to read. In `evaluate` and `analyse` --split
/// is a word.
bool is_input_option(const std::string& option);

/// Whether it names files or folders to write.
bool is_output_option(const std::string& option);

/// The name of an option without its dashes, or of a positional.
std::string long_name(const CLI::Option& option);

/// Throws UsageError for an output without a name, one that is also an input, and one that is given twice, before any
/// work is done.
void check_file_options(const CLI::App& command);

}  // namespace protocom::cli
