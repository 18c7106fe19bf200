#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace protocom::huggingface {

/// A number, whole number, text or truth of config.json, or what `transformers` takes where it is not there. Throws
/// Error for a value of another kind.
double config_number(const nlohmann::json& config, const char* name, double otherwise);
int64_t config_integer(const nlohmann::json& config, const char* name, int64_t otherwise);
std::string config_text(const nlohmann::json& config, const char* name, const char* otherwise);
bool config_flag(const nlohmann::json& config, const char* name, bool otherwise);

}  // namespace protocom::huggingface
