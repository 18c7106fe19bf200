#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace protocom::huggingface {

/// A number, whole number, text or truth of config.json, or what `transformers` takes where it is not there. Throws
/// Error for a value of another kind.
double number_of(const nlohmann::json& config, const char* name, double otherwise);
int64_t whole_of(const nlohmann::json& config, const char* name, int64_t otherwise);
std::string text_of(const nlohmann::json& config, const char* name, const char* otherwise);
bool truth_of(const nlohmann::json& config, const char* name, bool otherwise);

}  // namespace protocom::huggingface
