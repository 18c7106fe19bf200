#include "file_options.h"

#include <filesystem>
#include <map>

#include "base/error.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

/// Returns one name for a file, however it is written and through whatever links.
fs::path identity(const std::string& text) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(text, error), error);
  return error ? fs::path(text) : path;
}

bool is_regular_or_new(const fs::path& path) {
  std::error_code ignored;
  return !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
}

/// Whether an option's description has a kind, from which its checks follow.
bool has_kind(const CLI::Option& option, const std::string& kind) {
  const std::string type = option.get_type_name();
  return type == kind || type.rfind(kind + ":", 0) == 0;
}

}  // namespace

bool is_input(const CLI::Option& option) { return has_kind(option, kInput); }

bool is_output(const CLI::Option& option) { return has_kind(option, kOutput); }

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_single_name() : option.get_lnames().front();
}

void check_file_options(const CLI::App& command) {
  std::map<fs::path, std::string> inputs;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || !is_input(*option)) continue;
    for (const std::string& path : option->results()) inputs.emplace(identity(path), long_name(*option));
  }
  std::map<fs::path, std::string> outputs;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = long_name(*option);
    if (option->count() == 0 || !is_output(*option)) continue;
    const std::string text = option->results().front();
    if (text.empty()) fail_usage("--{} has no value: expected a file name", name);
    const fs::path path = identity(text);
    if (!is_regular_or_new(path)) continue;
    const auto input = inputs.find(path);
    if (input != inputs.end()) fail_usage("--{} {} would overwrite the input of --{}", name, text, input->second);
    if (!outputs.emplace(path, name).second)
      fail_usage("--{} and --{} are both {}: give two different files", outputs.at(path), name, text);
  }
}

}  // namespace protocom::cli
