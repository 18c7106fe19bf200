#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace protocom::cli {

/// The kind of an option's value, stated where the option is declared, by add_input_option or add_output_option. Checks
/// against overwriting, the paths of `protocom run`, the comparison of a job's processes, and --help follow from it.
inline constexpr const char* kInput = "PATH";     ///< files or folders to read
inline constexpr const char* kOutput = "OUTPUT";  ///< files or folders to write

template <typename Value>
CLI::Option* add_input_option(CLI::App& command, const std::string& name, Value& value, const std::string& help) {
  return command.add_option(name, value, help)->type_name(kInput);
}
template <typename Value>
CLI::Option* add_output_option(CLI::App& command, const std::string& name, Value& value, const std::string& help) {
  return command.add_option(name, value, help)->type_name(kOutput);
}

/// Adds an option whose values may be one argument, separated by commas.
template <typename Values>
CLI::Option* add_list_option(CLI::App& command, const std::string& name, Values& values, const std::string& help) {
  return command.add_option(name, values, help)->delimiter(',');
}

/// Adds an option whose value is one of the words that an enumeration has for `parse` and to_string. A wrong word is a
/// UsageError while options are parsed.
template <typename Enum>
CLI::Option* add_word(CLI::App& command, const std::string& name, Enum& value, Enum (*parse)(std::string_view),
                      const std::string& help) {
  const auto take = [&value, parse](const std::string& word) { value = parse(word); };
  return command.add_option_function<std::string>(name, take, help)->default_str(std::string(to_string(value)));
}

bool is_input(const CLI::Option& option);
bool is_output(const CLI::Option& option);

/// Returns the name of an option without its dashes, or of a positional.
std::string long_name(const CLI::Option& option);

/// Throws UsageError for an output without a name, one that is also an input, and one that is given twice, before any
/// work is done.
void check_file_options(const CLI::App& command);

}  // namespace protocom::cli
