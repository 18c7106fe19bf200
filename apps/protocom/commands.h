#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace protocom::cli {

/// The headings of `protocom --help`, in their order.
enum class Group { kOwnPhotos, kDataSets, kTraining, kMeasuring, kFiles };

/// A command of the program. One static object in each cmd_<name>.cc registers it; the source is part of the
/// executable, so nothing else refers to it (cli.h shows the pattern).
class Command {
 public:
  /// `place` orders the commands of a group; numbers are spaced for insertions.
  Command(Group group, int place, void (*add)(CLI::App& app));
};

/// Returns a new parser with every registered command and the program's own options.
std::unique_ptr<CLI::App> make_app();

/// Returns a parser without the program's options: `protocom run` parses each stage with one, under the settings of the
/// whole run.
std::unique_ptr<CLI::App> make_stage_app();

/// Parses the arguments and runs their command; if the first argument is neither a command nor an option, the program's
/// default command or the one for folders. Callbacks throw protocom::Error; parse errors are thrown as CLI::ParseError.
void parse_and_run(CLI::App& app, std::vector<std::string> arguments);

/// Describes in one sentence what was wrong with the command line, with the nearest option for a typo.
std::string describe_parse_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace protocom::cli
