#include "encoders/sentence_modules.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "encoders/text/detail/tokenizer.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom::text {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModules = "modules.json";

/// Returns the last part of "sentence_transformers.models.Pooling".
std::string kind_of(const nlohmann::json& module) {
  const std::string type = string_in(module, "type", "");
  return type.substr(type.rfind('.') + 1);
}

/// Returns the folder of a module, which must lie within.
fs::path folder_of(const nlohmann::json& module, const fs::path& folder) {
  const fs::path within = string_in(module, "path", "");
  const bool outside = within.is_absolute() || std::find(within.begin(), within.end(), "..") != within.end();
  if (outside) fail("{}: the path '{}' is outside the folder", kModules, excerpt(within.string()));
  return folder / within;
}

Pooling pooling_of(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  const nlohmann::json stated = read_json(path);
  std::vector<std::string> chosen;
  if (const std::string mode = string_in(stated, "pooling_mode", ""); !mode.empty()) chosen.push_back(mode);
  for (const char* mode :
       {"cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"}) {
    const auto found = stated.is_object() ? stated.find(std::string("pooling_mode_") + mode) : stated.end();
    if (found != stated.end() && *found == true) chosen.emplace_back(mode);
  }
  if (chosen.size() == 1 && (chosen[0] == "mean" || chosen[0] == "mean_tokens")) return Pooling::kMean;
  if (chosen.size() == 1 && (chosen[0] == "cls" || chosen[0] == "cls_token")) return Pooling::kFirst;
  fail("{}: pooling by {} is not supported, expected mean or cls", path.string(),
       chosen.empty() ? "nothing" : excerpt(fmt::format("{}", fmt::join(chosen, " and "))));
}

/// Refuses a prompt, which `sentence_transformers` puts before every text: vectors without it would differ.
void check_no_prompt(const fs::path& folder) {
  constexpr const char* kPrompts = "config_sentence_transformers.json";
  if (!fs::exists(folder / kPrompts)) return;
  const std::string name = string_in(read_json(folder / kPrompts), "default_prompt_name", "");
  if (!name.empty())
    fail("{}: the default prompt '{}' is not supported: write it before the texts, and set default_prompt_name to null",
         kPrompts, excerpt(name));
}

}  // namespace

SentenceModules read_sentence_modules(const fs::path& folder) {
  SentenceModules found;
  found.folder = folder;
  if (!fs::exists(folder / kModules)) return found;
  check_no_prompt(folder);
  const nlohmann::json stated = read_json(folder / kModules);
  if (!stated.is_array() || stated.empty()) fail("{}: expected a list of modules", kModules);
  for (const nlohmann::json& module : stated) {
    const std::string kind = kind_of(module);
    if (kind == "Transformer") {
      found.folder = folder_of(module, folder);
    } else if (kind == "Pooling") {
      found.pooling = pooling_of(folder_of(module, folder));
    } else if (kind == "Normalize") {
      found.normalise = true;
    } else {
      fail("{}: unknown module '{}': expected Transformer, Pooling and Normalize", kModules, excerpt(kind));
    }
  }
  return found;
}

}  // namespace protocom::text
