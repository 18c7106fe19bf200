#include "cli.h"

#include <algorithm>
#include <cstdlib>

#include "io/files_below.h"
#include "job.h"
#include "terminal_progress.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

using json = nlohmann::json;

/// Returns a value of the option's type: CLI11's INT, UINT and FLOAT; everything else stays text.
json typed(const std::string& type, const std::string& text) {
  const bool is_text = type.rfind("TEXT", 0) == 0 || type.rfind(kInput, 0) == 0 || type.rfind(kOutput, 0) == 0;
  if (text.empty()) return is_text ? json("") : json(nullptr);
  char* end = nullptr;
  if (type.rfind("INT", 0) == 0) {
    const int64_t value = std::strtoll(text.c_str(), &end, 10);
    if (*end == '\0') return value;
  } else if (type.rfind("UINT", 0) == 0) {
    const uint64_t value = std::strtoull(text.c_str(), &end, 10);
    if (*end == '\0') return value;
  } else if (type.rfind("FLOAT", 0) == 0) {
    const double value = std::strtod(text.c_str(), &end);
    if (*end == '\0') return value;
  }
  return text;
}

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0 || option.get_type_size_max() == 0; }

json value_of(const CLI::Option& option) {
  if (is_flag(option)) return option.count() > 0 && option.as<bool>();
  const std::string type = option.get_type_name();
  if (option.count() == 0) return typed(type, option.get_default_str());
  const std::vector<std::string>& given = option.results();
  if (option.get_expected_max() == 1 && given.size() == 1) return typed(type, given.front());
  json list = json::array();
  for (const std::string& value : given) list.push_back(typed(type, value));
  return list;
}

/// Indents continuation lines.
std::string indented(const std::string& lines) {
  std::string text = "  ";
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    if (lines[i] == '\n' && i + 1 < lines.size() && lines[i + 1] != ' ') text += "  ";
  }
  return text;
}

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& example) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Example:\n" + indented(example));
  command->get_formatter()->column_width(38);
  // Runs before the command's own callback.
  command->parse_complete_callback([command] {
    check_file_options(*command);
    set_job_command(*command);
  });
  return command;
}

Progress& progress() { return terminal_progress(); }

json options_json(const CLI::App& command) {
  json options = json::object();
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr()) continue;
    options[option->get_lnames().empty() ? option->get_single_name() : option->get_lnames().front()] =
        value_of(*option);
  }
  return options;
}

Provenance provenance_of(const CLI::App& command, uint64_t seed) {
  Provenance provenance;
  provenance.command = command.get_name();
  provenance.options = options_json(command);
  provenance.seed = seed;
  return provenance;
}

std::string hash_input(const fs::path& path) {
  if (!fs::exists(path)) fail("{}: no such file or folder", path.string());
  if (!fs::is_directory(path)) return hash_file(path);
  std::vector<std::string> lines;
  for (const auto& entry : files_below(path)) {
    lines.push_back(fmt::format("{}\t{}\t{}\n", entry.path().lexically_relative(path).generic_string(),
                                entry.file_size(), entry.last_write_time().time_since_epoch().count()));
  }
  std::sort(lines.begin(), lines.end());
  std::string listing;
  for (const std::string& line : lines) listing += line;
  return hash_bytes(listing);
}

void add_input(Provenance& provenance, const std::string& name, const fs::path& path) {
  if (!path.empty()) provenance.inputs[name] = hash_input(path);
}

std::string command_line(const CLI::App& command) {
  std::string name = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent != nullptr; parent = parent->get_parent())
    name = fmt::format("{} {}", parent->get_name(), name);
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    if (option->nonpositional()) name += " " + option->get_name();
    if (option->get_expected_max() > 0) name += fmt::format(" {}", fmt::join(option->results(), ","));
  }
  return name;
}

CLI::Option* add_device(CLI::App& command, std::string& device) {
  return command.add_option("--device", device, "cpu, cuda, cuda:1 or auto");
}

CLI::Option* add_batch(CLI::App& command, int64_t& batch) {
  return command.add_option("--batch", batch, "Images per forward pass")->check(at_least(1));
}

CLI::Range at_least(int64_t least) { return CLI::Range(least, int64_t{1} << 30); }

}  // namespace protocom::cli
