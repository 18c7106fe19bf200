#include "job.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/json_text.h"
#include "cli.h"
#include "io/files_below.h"
#include "io/json.h"
#include "io/unfinished.h"
#include "standard_streams.h"
#include "terminal_progress.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const ProcessGroup* joined = nullptr;
json command_json;             // the command and its options
std::set<std::string> inputs;  // options that name files to read
json compared;                 // what all processes have agreed on

/// Silences all but the first process of a job.
void fall_silent() {
  terminal_progress().set_verbosity(Verbosity::kQuiet);
  std::fflush(stdout);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0) fail("/dev/null cannot be opened");
  ::close(nowhere);
}

/// Returns the content of a file, or names and sizes of a folder: on another machine, paths and times differ.
std::string fingerprint_content(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return fs::is_regular_file(path, ignored) ? hash_file(path) : path.string();
  std::vector<std::string> names;
  for (const auto& entry : files_below(path))
    names.push_back(fmt::format("{}\t{}", entry.path().lexically_relative(path).generic_string(), entry.file_size()));
  std::sort(names.begin(), names.end());
  return hash_bytes(fmt::format("{}", fmt::join(names, "\n")));
}

json with_contents(json options) {
  for (auto& [name, value] : options.items()) {
    if (inputs.count(name) == 0) continue;
    if (value.is_string()) value = fingerprint_content(value.get<std::string>());
    if (!value.is_array()) continue;
    for (json& item : value) {
      if (item.is_string()) item = fingerprint_content(item.get<std::string>());
    }
  }
  return options;
}

/// Returns "--episodes is 80, not 100"; `raw` has the names of the input files.
std::string difference(const json& own, const json& leading, const json& raw) {
  for (const auto& [name, value] : leading.items()) {
    const std::string is = own.contains(name) ? json_text(own[name]) : "missing", should = json_text(value);
    if (is == should) continue;
    if (inputs.count(name) > 0) {
      const std::string path = raw.contains(name) ? json_text(raw[name]) : "";
      return is == path ? fmt::format("--{} {} is missing", name, excerpt(path))
                        : fmt::format("--{} {} is another file", name, excerpt(path));
    }
    return fmt::format("--{} is {}, not {}", name, excerpt(is), excerpt(should));
  }
  return "it has more options";
}

/// Compares the processes: if they did different things, they would end normally with a wrong answer.
void compare(const ProcessGroup& group) {
  if (group.is_single() || command_json == compared) return;
  compared = command_json;
  const json own = with_contents(command_json);
  const json leading = parse_json(group.broadcast(json_text(own)), "the options of process 0");
  const bool differs = json_text(own) != json_text(leading);
  const Array all = group.gather_rows(Array::of(std::vector<int64_t>{differs ? 1 : 0}));
  if (differs)
    fail_usage("process {} was started with other options than process 0: {}; start all with the same", group.rank(),
               difference(own, leading, command_json));
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (all.data<int64_t>()[rank] != 0) ranks.push_back(rank);
  }
  if (ranks.empty()) return;
  fail_usage("process {} of {} was started with other options or input files than process 0: start all with the same",
             fmt::join(ranks, ", "), group.size());
}

/// Ends this process while it computes, or hangs waiting for a lost one; called by the thread that watches the others.
[[noreturn]] void end_at_loss(const std::string& sentence) {
  remove_unfinished();
  terminal_progress().clear();
  say(fmt::format("protocom: {}\n", one_line(sentence)));
  std::_Exit(1);
}

}  // namespace

const ProcessGroup& job() {
  static const ProcessGroup kGroup(launch_from_environment(), end_at_loss);
  if (joined == nullptr) {
    joined = &kGroup;
    if (!kGroup.is_main()) fall_silent();
  }
  compare(kGroup);
  return kGroup;
}

void set_job_command(const CLI::App& command) {
  if (!command.get_subcommands().empty()) return;  // a subcommand of it is the one that runs
  command_json = options_json(command);
  command_json["command"] = command.get_name();
  inputs.clear();
  for (const CLI::Option* option : command.get_options()) {
    if (is_input(*option)) inputs.insert(long_name(*option));
    if (is_output(*option)) command_json.erase(long_name(*option));
  }
}

void leave_job() {
  if (joined != nullptr) joined->leave();
}

void end_job(const std::string& reason) {
  if (joined == nullptr || joined->is_single()) return;
  joined->announce_failure(reason);
  if (!joined->broken()) return;
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace protocom::cli
