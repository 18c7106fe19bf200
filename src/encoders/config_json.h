#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace protocom::huggingface {

/// A number, whole number, text or truth of config.json, or what `transformers` takes where it is not there. Throws
/// Error for a value of another kind.
double config_number(const nlohmann::json& config, const char* name, double otherwise);
int64_t config_integer(const nlohmann::json& config, const char* name, int64_t otherwise);
std::string config_text(const nlohmann::json& config, const char* name, const char* otherwise);
bool config_flag(const nlohmann::json& config, const char* name, bool otherwise);
/// A list of at most 1000 whole numbers from `least` to 1000.
std::vector<int64_t> config_integers(const nlohmann::json& config, const char* name, std::vector<int64_t> otherwise,
                                     int64_t least);
/// A list of at most 1000 truths.
std::vector<bool> config_flags(const nlohmann::json& config, const char* name, std::vector<bool> otherwise);

}  // namespace protocom::huggingface
