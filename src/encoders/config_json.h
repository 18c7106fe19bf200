#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace protocom::huggingface {

/// Return a number, whole number, text or boolean of config.json, or the default of `transformers` if it is missing.
/// Throw Error for a value of another type.
double config_number(const nlohmann::json& config, const char* name, double otherwise);
int64_t config_integer(const nlohmann::json& config, const char* name, int64_t otherwise);
std::string config_text(const nlohmann::json& config, const char* name, const char* otherwise);
bool config_flag(const nlohmann::json& config, const char* name, bool otherwise);
/// Returns a list of at most 1000 whole numbers from `least` to 1000.
std::vector<int64_t> config_integers(const nlohmann::json& config, const char* name, std::vector<int64_t> otherwise,
                                     int64_t least);
/// Returns a list of at most 1000 booleans.
std::vector<bool> config_flags(const nlohmann::json& config, const char* name, std::vector<bool> otherwise);

}  // namespace protocom::huggingface
