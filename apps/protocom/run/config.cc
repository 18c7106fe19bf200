#include "run/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/near_matches.h"
#include "io/files.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

/// Returns the end of the string that begins at `begin`: after its quotes, or at the end of its line if it is not
/// closed.
size_t end_of_string(std::string_view text, size_t begin) {
  const char quote = text[begin];
  const std::string three(3, quote);
  const bool is_long = text.substr(begin, 3) == three;
  const std::string_view closing = is_long ? std::string_view(three) : text.substr(begin, 1);
  for (size_t i = begin + closing.size(); i < text.size(); ++i) {
    if (text.substr(i, closing.size()) == closing) return i + closing.size();
    if (text[i] == '\n' && !is_long) return i;
    if (text[i] == '\\' && quote == '"') ++i;
  }
  return text.size();
}

bool ends_key(char c) { return c == '\n' || c == '=' || c == ',' || c == '{' || c == '['; }

/// Returns the line, from 1, of a key with more than `most` dotted parts, 0 if there is none. For text before it is
/// parsed as TOML: the parser recurses once per part, until the stack overflows.
int64_t line_of_deep_key(std::string_view toml, int64_t most) {
  int64_t line = 1, parts = 1;
  for (size_t i = 0; i < toml.size();) {
    const char c = toml[i];
    if (c == '"' || c == '\'') {
      const size_t end = end_of_string(toml, i);
      line += std::count(toml.begin() + static_cast<int64_t>(i), toml.begin() + static_cast<int64_t>(end), '\n');
      i = end;
      continue;
    }
    if (c == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    parts = ends_key(c) ? 1 : parts + (c == '.' ? 1 : 0);
    if (parts > most) return line;
    line += c == '\n' ? 1 : 0;
    ++i;
  }
  return 0;
}

using Variables = std::map<std::string, std::string>;

constexpr int64_t kMostParts = 10;  // of a key; a configuration needs two
constexpr size_t kMostStages = 1000;
constexpr size_t kLongestValue = size_t{64} << 10;

int64_t line_of(const toml::node& node) { return node.source().begin.line; }

/// Whether a name is a plain file name: stages name files in the folder of artefacts only.
bool is_plain_name(const std::string& name) {
  constexpr size_t kLongest = 100;
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
  return plain && !name.empty() && name.size() <= kLongest && name.front() != '.' && name.front() != '-';
}

/// Reads one file; records its name for messages, and which variables were used.
class Reader {
 public:
  Reader(RunConfig& config, Variables given) : config_(config), variables_(std::move(given)) {}

  void read(const toml::table& root);
  /// Throws for an unused --set variable, which is a typo.
  void check_all_used(const Variables& given) const;

 private:
  void read_top_level(const std::string& key, const toml::node& node);
  void read_variables(const toml::table& table);
  void read_stage(const std::string& command, const toml::table& table);
  ConfigValue read_value(const std::string& key, const toml::node& node);
  std::string scalar(const std::string& key, const toml::node& node);
  std::string replace_variables(const std::string& text, int64_t line);

  RunConfig& config_;
  Variables variables_;
  std::set<std::string> used_;
};

void Reader::read(const toml::table& root) {
  if (const toml::table* table = root["variables"].as_table()) read_variables(*table);
  for (const auto& [key_view, node] : root) {
    const std::string key(key_view.str());
    if (key == "variables" && node.is_table()) continue;
    if (const toml::table* table = node.as_table()) {
      read_stage(key, *table);
    } else if (const toml::array* array = node.as_array(); array != nullptr && array->is_array_of_tables()) {
      for (const toml::node& element : *array) read_stage(key, *element.as_table());
    } else {
      read_top_level(key, node);
    }
  }
  // toml++ sorts tables by name.
  std::stable_sort(config_.stages.begin(), config_.stages.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
}

void Reader::read_variables(const toml::table& table) {
  for (const auto& [key, node] : table) {
    // A default that names a file is relative to the configuration, like every path in it.
    variables_.try_emplace(std::string(key.str()), scalar(std::string(key.str()), node));
  }
}

void Reader::read_top_level(const std::string& key, const toml::node& node) {
  const std::string where = config_.where(line_of(node));
  if (key == "out") {
    config_.out = scalar(key, node);
  } else if (key == "seed") {
    const toml::value<int64_t>* seed = node.as_integer();
    if (seed == nullptr || seed->get() < 0) fail_usage("{}: seed: expected a whole number of at least 0", where);
    config_.seed = static_cast<uint64_t>(seed->get());
  } else {
    fail_usage("{}: unknown key '{}'{} (at the top level: out, seed; all others belong to a [stage])", where, key,
               did_you_mean(key, {"out", "seed"}));
  }
}

void Reader::read_stage(const std::string& command, const toml::table& table) {
  StageConfig stage;
  stage.command = command;
  stage.line = line_of(table);
  for (const auto& [key_view, node] : table) {
    const std::string key(key_view.str());
    if (key == "name") {
      stage.name = scalar(key, node);
      if (!is_plain_name(stage.name)) {
        fail_usage(
            "{}: the name '{}' of [{}] becomes a file name: expected letters, digits, '_', '.' and '-', the first a "
            "letter, a digit or '_'",
            config_.where(line_of(node)), excerpt(stage.name), command);
      }
    } else {
      stage.values[key] = read_value(key, node);
    }
  }
  if (config_.stages.size() == kMostStages)
    fail_usage("{}: a configuration has at most {} stages", config_.where(stage.line), kMostStages);
  config_.stages.push_back(std::move(stage));
}

ConfigValue Reader::read_value(const std::string& key, const toml::node& node) {
  ConfigValue value;
  value.line = line_of(node);
  value.is_flag = node.is_boolean();
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array) value.values.push_back(scalar(key, element));
    if (array->empty())
      fail_usage("{}: '{}' is an empty list: give a value, or leave it out", config_.where(value.line), key);
  } else {
    value.values.push_back(scalar(key, node));
  }
  return value;
}

std::string Reader::scalar(const std::string& key, const toml::node& node) {
  if (const auto text = node.as_string()) return replace_variables(text->get(), line_of(node));
  if (const auto integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto flag = node.as_boolean()) return flag->get() ? "true" : "false";
  fail_usage("{}: value of '{}': expected a string, a number, true, false, or a list of these",
             config_.where(line_of(node)), key);
}

std::string Reader::replace_variables(const std::string& text, int64_t line) {
  std::string result;
  size_t position = 0;
  for (size_t begin = text.find("${"); begin != std::string::npos; begin = text.find("${", position)) {
    const size_t end = text.find('}', begin);
    if (end == std::string::npos) fail_usage("{}: '{}' has a ${{ without a closing brace", config_.where(line), text);
    const std::string name = text.substr(begin + 2, end - begin - 2);
    if (text.substr(begin, end + 1 - begin) == kOutVariable) {
      result += text.substr(position, end + 1 - position);
      position = end + 1;
      continue;
    }
    const auto found = variables_.find(name);
    if (found == variables_.end()) fail_usage("{0}: ${{{1}}} is not set; add --set {1}=...", config_.where(line), name);
    used_.insert(name);
    result += text.substr(position, begin - position) + found->second;
    position = end + 1;
    if (result.size() > kLongestValue)
      fail_usage("{}: with its variables replaced, a value has more than {} KiB", config_.where(line),
                 kLongestValue >> 10);
  }
  return result + text.substr(position);
}

void Reader::check_all_used(const Variables& given) const {
  for (const auto& [name, value] : given) {
    if (used_.count(name) > 0) continue;
    fail_usage("--set {0}=...: {1} has no ${{{0}}}{2}", name, config_.file.string(),
               did_you_mean(name, {used_.begin(), used_.end()}));
  }
}

toml::table parse(const fs::path& file) {
  const std::string text = read_file(file);
  if (const int64_t line = line_of_deep_key(text, kMostParts); line > 0)
    fail_usage("{}:{}: a key has more than {} parts, expected stage.option", file.string(), line, kMostParts);
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    fail_usage("{}:{}: not valid TOML: {}", file.string(), error.source().begin.line,
               excerpt(error.description(), 300));
  }
}

/// The --set arguments by kind.
struct Settings {
  Variables variables;
  std::map<std::string, std::string> top_level;
  std::vector<std::array<std::string, 3>> options;  // stage, option, value
};

/// Makes a value absolute if it names an existing file or folder, or the prefix of some (lists/tiny-imagenet of
/// lists/tiny-imagenet-base.txt).
std::string absolute_if_there(const std::string& value) {
  const fs::path path = value;
  const bool there =
      !value.empty() && (fs::exists(path) || (path.has_parent_path() && fs::is_directory(path.parent_path())));
  return there ? fs::absolute(path).lexically_normal().string() : value;
}

Settings sort_settings(const std::vector<std::string>& settings) {
  Settings sorted;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      fail_usage("--set {}: expected name=value or stage.option=value", setting);
    const std::string key = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    const size_t dot = key.find('.');
    if (dot != std::string::npos) {
      sorted.options.push_back({key.substr(0, dot), key.substr(dot + 1), absolute_if_there(value)});
    } else if (key == "out" || key == "seed") {
      sorted.top_level[key] = value;
    } else {
      sorted.variables[key] = absolute_if_there(value);
    }
  }
  return sorted;
}

void apply_top_level(RunConfig& config, const std::map<std::string, std::string>& settings) {
  for (const auto& [key, value] : settings) {
    if (key == "out") {
      config.out = value;
      continue;
    }
    const bool digits =
        !value.empty() && value.size() < 20 && value.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) fail_usage("--set seed={}: expected a whole number of at least 0", value);
    config.seed = std::stoull(value);
  }
}

void apply_options(RunConfig& config, const Settings& settings) {
  for (const auto& [command, option, value] : settings.options) {
    bool found = false;
    for (StageConfig& stage : config.stages) {
      if (stage.command != command && stage.name != command) continue;
      stage.values[option] = {{value}, value == "true" || value == "false", 0};
      found = true;
    }
    if (!found)
      fail_usage("--set {}.{}={}: {} has no table [{}]", command, option, value, config.file.string(), command);
  }
}

}  // namespace

std::string RunConfig::where(int64_t line) const {
  return line > 0 ? fmt::format("{}:{}", file.string(), line) : "--set";
}

RunConfig read_run_config(const fs::path& file, const std::vector<std::string>& settings) {
  const Settings sorted = sort_settings(settings);
  RunConfig config;
  config.file = file;
  Reader reader(config, sorted.variables);
  reader.read(parse(file));
  reader.check_all_used(sorted.variables);
  apply_top_level(config, sorted.top_level);
  apply_options(config, sorted);
  if (config.stages.empty()) fail_usage("{} has no stage, for instance [pack]", file.string());
  return config;
}

}  // namespace protocom::cli
