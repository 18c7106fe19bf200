#include "file_options.h"

#include <filesystem>
#include <map>
#include <set>

#include "protocom/core/error.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

/// One name for a file, however it is written and through whatever links.
fs::path identity(const std::string& text) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(text, error), error);
  return error ? fs::path(text) : path;
}

bool is_regular_or_new(const fs::path& path) {
  std::error_code ignored;
  return !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
}

}  // namespace

bool is_input_option(const std::string& option) {
  static const std::set<std::string> kInputs = {
      "images", "image", "split",   "class-split",   "backbone",     "features", "knowledge",     "model",
      "csv",    "root",  "vectors", "class-synsets", "results",      "wordnet",  "episodes-file", "fitted",
      "tuned",  "table", "folder",  "others",        "feature-maps", "names",    "descriptions"};
  return kInputs.count(option) > 0;
}

bool is_output_option(const std::string& option) {
  static const std::set<std::string> kOutputs = {"out",        "json",      "sheet", "save-episodes", "predictions",
                                                 "save-split", "out-model", "maps",  "save-fitted"};
  return kOutputs.count(option) > 0;
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_single_name() : option.get_lnames().front();
}

void check_file_options(const CLI::App& command) {
  std::map<fs::path, std::string> inputs;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || !is_input_option(long_name(*option))) continue;
    for (const std::string& path : option->results()) inputs.emplace(identity(path), long_name(*option));
  }
  std::map<fs::path, std::string> outputs;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = long_name(*option);
    if (option->count() == 0 || !is_output_option(name)) continue;
    const std::string text = option->results().front();
    if (option->get_expected_max() == 0) continue;  // a flag of that name
    if (text.empty()) fail_usage("--{} has no value: a file name was expected", name);
    const fs::path path = identity(text);
    if (!is_regular_or_new(path)) continue;
    const auto input = inputs.find(path);
    if (input != inputs.end()) fail_usage("--{} {} would replace what --{} reads", name, text, input->second);
    if (!outputs.emplace(path, name).second) fail_usage("--{} and --{} are both {}", outputs.at(path), name, text);
  }
}

}  // namespace protocom::cli
