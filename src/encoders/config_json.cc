#include "encoders/config_json.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_text.h"

namespace protocom::huggingface {
namespace {

/// Returns the value of a name, if it exists and is not null.
const nlohmann::json* find(const nlohmann::json& config, const char* name) {
  const auto found = config.find(name);
  return found == config.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

double config_number(const nlohmann::json& config, const char* name, double otherwise) {
  const nlohmann::json* found = find(config, name);
  if (found == nullptr) return otherwise;
  if (!found->is_number()) fail("config.json: '{}': expected a number, found {}", name, excerpt(json_text(*found)));
  return found->get<double>();
}

int64_t config_integer(const nlohmann::json& config, const char* name, int64_t otherwise) {
  const nlohmann::json* found = find(config, name);
  if (found == nullptr) return otherwise;
  constexpr int64_t kMost = 1 << 20;
  if (!found->is_number_integer() || found->get<double>() < 1 || found->get<double>() > kMost)
    fail("config.json: '{}': expected a whole number from 1 to {}, found {}", name, kMost, excerpt(json_text(*found)));
  return found->get<int64_t>();
}

std::string config_text(const nlohmann::json& config, const char* name, const char* otherwise) {
  const nlohmann::json* found = find(config, name);
  if (found == nullptr) return otherwise;
  if (!found->is_string()) fail("config.json: '{}': expected a string, found {}", name, excerpt(json_text(*found)));
  return found->get<std::string>();
}

bool config_flag(const nlohmann::json& config, const char* name, bool otherwise) {
  const nlohmann::json* found = find(config, name);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean())
    fail("config.json: '{}': expected true or false, found {}", name, excerpt(json_text(*found)));
  return found->get<bool>();
}

std::vector<int64_t> config_integers(const nlohmann::json& config, const char* name, std::vector<int64_t> otherwise,
                                     int64_t least) {
  const nlohmann::json* found = find(config, name);
  if (found == nullptr) return otherwise;
  std::vector<int64_t> numbers;
  for (const auto& item : found->is_array() ? *found : nlohmann::json::array())
    numbers.push_back(item.is_number_integer() ? item.get<int64_t>() : -1);
  const bool all =
      std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return number >= least && number <= 1000; });
  if (!found->is_array() || numbers.size() > 1000 || !all)
    fail("config.json: '{}' is out of range: {}", name, excerpt(json_text(*found)));
  return numbers;
}

std::vector<bool> config_flags(const nlohmann::json& config, const char* name, std::vector<bool> otherwise) {
  const nlohmann::json* found = find(config, name);
  if (found == nullptr) return otherwise;
  const bool all = found->is_array() && found->size() <= 1000 &&
                   std::all_of(found->begin(), found->end(), [](const auto& item) { return item.is_boolean(); });
  if (!all) fail("config.json: '{}' is {}, expected a list of true and false", name, excerpt(json_text(*found)));
  return found->get<std::vector<bool>>();
}

}  // namespace protocom::huggingface
