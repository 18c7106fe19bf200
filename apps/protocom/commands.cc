#include "commands.h"

#include <spdlog/sinks/basic_file_sink.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/cores.h"
#include "base/enum_words.h"
#include "base/log_sinks.h"
#include "base/near_matches.h"
#include "base/threads.h"
#include "cli.h"
#include "encoders/engine.h"
#include "help_formatter.h"
#include "images/image.h"
#include "jobs/process_group.h"
#include "program.h"
#include "terminal_progress.h"

namespace protocom::cli {
namespace {

using Registry = std::map<std::pair<Group, int>, void (*)(CLI::App&)>;

Registry& registry() {
  static Registry commands;
  return commands;
}

constexpr EnumWord<Group> kTitles[] = {{Group::kOwnPhotos, "Subcommands for your own photos"},
                                       {Group::kDataSets, "Subcommands for data sets"},
                                       {Group::kTraining, "Subcommands that train, fit and tune"},
                                       {Group::kMeasuring, "Subcommands that measure"},
                                       {Group::kFiles, "Subcommands for files and whole runs"}};

constexpr int64_t kMegapixel = 1'000'000;

struct GlobalOptions {
  int threads = 0;
  bool quiet = false;
  bool verbose = false;
  std::string log_file;
  std::string engine = "auto";
  int64_t largest_image = protocom::largest_image() / kMegapixel;  // in megapixels
};

void apply(const GlobalOptions& options) {
  set_threads(options.threads > 0 ? options.threads
                                  : std::max(1, usable_cores() / launch_from_environment().local_size));
  set_engine(parse_engine(options.engine));
  set_largest_image(options.largest_image * kMegapixel);
  const Verbosity verbosity = options.quiet     ? Verbosity::kQuiet
                              : options.verbose ? Verbosity::kVerbose
                                                : Verbosity::kNormal;
  terminal_progress().set_verbosity(verbosity);
  auto terminal = make_stderr_sink();
  terminal->set_level(options.quiet     ? spdlog::level::err
                      : options.verbose ? spdlog::level::debug
                                        : spdlog::level::info);
  log_backend().sinks() = {terminal};
  log_backend().set_level(options.verbose ? spdlog::level::debug : spdlog::level::info);
  if (options.log_file.empty()) return;
  check_writable(options.log_file);
  log_backend().sinks().push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.log_file));
  log_backend().flush_on(spdlog::level::info);
}

void add_global_options(CLI::App& app) {
  auto options = std::make_shared<GlobalOptions>();
  app.set_version_flag("--version", program().name + " " + program_version());
  app.add_option("--threads", options->threads, "Cores to use; 0: all this process may use")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--engine", options->engine,
                 "Engine that runs encoders: onnxruntime (ONNX files, on the CPU), torch, or auto: ONNX Runtime if it "
                 "is installed, the file is ONNX and there is no GPU");
  app.add_flag("--quiet", options->quiet, "No progress, and no messages except errors")->group("Options");
  app.add_flag("--verbose", options->verbose, "More messages");
  add_output_option(app, "--log-file", options->log_file, "Append messages to this file too");
  app.add_option(
         "--largest-image", options->largest_image,
         "Largest decoded image, megapixels; four times that for a JPEG scaled down while decoding (serve: --pixels)")
      ->check(CLI::Range(1, 1000));
  // Runs before the command's own callback, whatever the order of the arguments.
  app.parse_complete_callback([options] { apply(*options); });
}

/// Returns the deepest command that was recognised ("knowledge wordnet"); the program itself if there is none.
const CLI::App& recognised(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  return *deepest;
}

/// Returns option names of the recognised command, and the program's own.
std::vector<std::string> known_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* from : {&recognised(app), &app}) {
    for (const CLI::Option* option : from->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

/// Returns "protocom knowledge wordnet".
std::string command_path(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : command_path(*command.get_parent()) + " " + command.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// Whether an argument is an existing file, or a name like those of recognizers: anything else is more likely a
/// misspelt command.
bool names_recognizer(const std::string& argument) {
  const std::filesystem::path path(argument);
  std::error_code ignored;
  return argument.rfind('-', 0) != 0 && (path.extension() == ".pcm" || std::filesystem::exists(path, ignored));
}

/// Returns the command that the program runs for an argument without one; empty for none.
std::string command_meant_by(const std::string& argument) {
  std::error_code ignored;
  if (!program().folder_command.empty() && std::filesystem::is_directory(argument, ignored))
    return program().folder_command;
  return names_recognizer(argument) ? program().default_command : "";
}

/// Returns the first argument after the program's own options (`--quiet`, `--threads 2`).
std::vector<std::string>::iterator after_options(const CLI::App& app, std::vector<std::string>& arguments) {
  auto at = arguments.begin();
  while (at != arguments.end()) {
    const CLI::Option* option = app.get_option_no_throw(at->substr(0, at->find('=')));
    if (option == nullptr || at->rfind('-', 0) != 0) return at;
    const bool takes_next = option->get_items_expected_max() > 0 && at->find('=') == std::string::npos;
    at += std::min<std::ptrdiff_t>(takes_next ? 2 : 1, arguments.end() - at);
  }
  return at;
}

/// Returns "; did you mean 'classify'?" for a word that may also have been meant as a folder.
std::string hint_for_command(const CLI::App& app, const std::string& argument,
                             const std::vector<std::string>& commands) {
  const std::string near = did_you_mean(argument, commands);
  const bool may_be_folder = &recognised(app) == &app && !program().folder_command.empty();
  return near.empty() && may_be_folder ? ", and no folder has that name" : near;
}

std::string describe_extra(const CLI::App& app, const std::string& argument) {
  if (argument.rfind('-', 0) == 0) {
    const std::string name = argument.substr(0, argument.find('='));
    return fmt::format("unknown option {}{}", name, did_you_mean(name, known_options(app)));
  }
  const std::vector<std::string> commands = command_names(recognised(app));
  if (!commands.empty())
    return fmt::format("unknown command '{}'{}", argument, hint_for_command(app, argument, commands));
  return fmt::format("unexpected argument '{}'", argument);
}

}  // namespace

Command::Command(Group group, int place, void (*add)(CLI::App& app)) {
  const bool is_new = registry().emplace(std::pair(group, place), add).second;
  PROTOCOM_CHECK(is_new);
}

std::unique_ptr<CLI::App> make_stage_app() {
  auto app = std::make_unique<CLI::App>(program().about, program().name);
  app->require_subcommand(1);
  app->fallthrough();
  app->formatter(std::make_shared<HelpFormatter>());
  app->option_defaults()->always_capture_default();
  for (const auto& [place, add] : registry()) {
    add(*app);
    app->get_subcommands([](const CLI::App*) { return true; })
        .back()
        ->group(std::string(word_of(kTitles, place.first)));
  }
  return app;
}

std::unique_ptr<CLI::App> make_app() {
  auto app = make_stage_app();
  add_global_options(*app);
  std::string footer = program().name + " COMMAND --help shows a command's options with their defaults and an example.";
  if (!program().folder_command.empty())
    footer += fmt::format("\n{0} FOLDER means {0} {1} FOLDER.", program().name, program().folder_command);
  app->footer(footer);
  return app;
}

void parse_and_run(CLI::App& app, std::vector<std::string> arguments) {
  const std::vector<std::string> commands = command_names(app);
  const auto first = after_options(app, arguments);
  const bool is_named =
      first == arguments.end() || std::find(commands.begin(), commands.end(), *first) != commands.end();
  const std::string meant = is_named ? "" : command_meant_by(*first);
  if (!meant.empty()) arguments.insert(first, meant);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them in reverse
  app.parse(std::move(arguments));
}

std::string describe_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  // A misspelt option also leaves the correct one missing; reporting the typo is more helpful.
  const std::vector<std::string> extras = app.remaining(true);
  std::string sentence = extras.empty() ? error.what() : describe_extra(app, extras.front());
  const bool no_command =
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !command_names(recognised(app)).empty();
  if (extras.empty() && no_command) sentence = "which command?";
  return fmt::format("{} (see {} --help)", sentence, command_path(recognised(app)));
}

}  // namespace protocom::cli
