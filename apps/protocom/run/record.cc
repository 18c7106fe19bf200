#include <algorithm>

#include "base/json_text.h"
#include "cli.h"
#include "io/json.h"
#include "run/plan.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr const char* kMissing = "missing";

/// Hashes a prefix P, which means the files P-*: lists of a split.
std::string hash_prefix(const fs::path& prefix) {
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) return kMissing;
  std::vector<std::string> hashes;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix.filename().string() + "-", 0) == 0 && entry.is_regular_file())
      hashes.push_back(name + hash_file(entry.path()));
  }
  if (hashes.empty()) return kMissing;
  std::sort(hashes.begin(), hashes.end());
  return hash_bytes(fmt::format("{}", fmt::join(hashes, "\n")));
}

std::string hash_of(const std::vector<std::string>& paths) {
  std::vector<std::string> hashes;
  for (const std::string& path : paths) hashes.push_back(fs::exists(path) ? hash_input(path) : hash_prefix(path));
  return fmt::format("{}", fmt::join(hashes, ","));
}

json to_json(const ConfigValue& value) {
  return value.values.size() == 1 ? json(value.values.front()) : json(value.values);
}

std::string text_of(const json& options, const std::string& name) {
  if (!options.contains(name)) return "default";
  return options[name].is_string() ? options[name].get<std::string>() : json_text(options[name]);
}

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

json StageRecord::to_json() const {
  return {{"program_version", program_version}, {"options", options}, {"inputs", inputs}, {"outputs", outputs}};
}

StageRecord record_of(const Stage& stage) {
  StageRecord record;
  record.program_version = program_version();
  record.options = {{"command", fmt::format("{}", fmt::join(stage.command, " "))}};
  for (const auto& [name, value] : stage.options) {
    if (is_one_of(stage.inputs, name)) {
      record.inputs[name] = hash_of(value.values);
    } else if (!is_one_of(stage.outputs, name)) {
      record.options[name] = to_json(value);
    }
  }
  return record;
}

void add_outputs(StageRecord& record, const Stage& stage) {
  for (const std::string& name : stage.outputs) record.outputs[name] = hash_of(stage.options.at(name).values);
}

fs::path record_path(const fs::path& out, const Stage& stage) { return out / ".stages" / (stage.id + ".json"); }
fs::path started_path(const fs::path& out, const Stage& stage) {
  return out / ".stages" / (stage.id + ".started.json");
}

std::optional<StageRecord> read_record(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    const json parsed = read_json(path);
    StageRecord record;
    parsed.at("program_version").get_to(record.program_version);
    record.options = parsed.at("options");
    parsed.at("inputs").get_to(record.inputs);
    parsed.at("outputs").get_to(record.outputs);
    if (!record.options.is_object()) return std::nullopt;
    return record;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<std::string> difference(const StageRecord& before, const StageRecord& now) {
  if (before.program_version != now.program_version) {
    return fmt::format("protocom {} instead of {}", now.program_version, before.program_version);
  }
  json names = before.options;
  names.update(now.options);
  for (const auto& [name, unused] : names.items()) {
    const std::string was = text_of(before.options, name), is = text_of(now.options, name);
    if (was != is) return fmt::format("{}: {} -> {}", name, was, is);
  }
  for (const auto& [name, hash] : now.inputs) {
    const auto was = before.inputs.find(name);
    if (was == before.inputs.end()) return fmt::format("new input {}", name);
    if (was->second != hash) return fmt::format("{} changed", name);
  }
  if (before.inputs.size() != now.inputs.size()) return "fewer inputs";
  return std::nullopt;
}

std::optional<std::string> reason_to_run(const Stage& stage, const std::optional<StageRecord>& before) {
  if (!before) return "not made yet";
  StageRecord now = record_of(stage);
  if (const auto changed = difference(*before, now)) return changed;
  for (const std::string& name : stage.outputs) {
    for (const std::string& path : stage.options.at(name).values) {
      if (!fs::exists(path)) return fmt::format("{} is gone", path);
    }
  }
  add_outputs(now, stage);
  for (const auto& [name, hash] : now.outputs) {
    const auto was = before->outputs.find(name);
    if (was == before->outputs.end()) return fmt::format("new output {}", name);
    if (was->second != hash)
      return fmt::format("{} was changed since", fs::path(stage.options.at(name).values.front()).string());
  }
  return std::nullopt;
}

}  // namespace protocom::cli
