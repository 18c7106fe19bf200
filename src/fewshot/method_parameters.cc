#include "fewshot/method_parameters.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/near_matches.h"
#include "base/text.h"

namespace protocom {
namespace {

template <typename T>
ParameterValue parse_number(const std::string& method, const ParameterSpec& spec, const std::string& text) {
  const auto value = number_from<T>(text);
  const double number = value ? static_cast<double>(*value) : NAN;
  if (std::isfinite(number) && number >= spec.low && number <= spec.high) return *value;
  fail_usage("{}: '{}' takes a {} number in [{:g}, {:g}], found '{}'", method, spec.name,
             std::is_integral_v<T> ? "whole" : "real", spec.low, spec.high, text);
}

}  // namespace

ParameterValue parse_parameter(const std::string& method, const ParameterSpec& spec, const std::string& text) {
  if (std::holds_alternative<double>(spec.default_value)) return parse_number<double>(method, spec, text);
  if (std::holds_alternative<int64_t>(spec.default_value)) return parse_number<int64_t>(method, spec, text);
  if (std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end())
    fail_usage("{}: '{}' takes one of {}, found '{}'", method, spec.name, fmt::join(spec.choices, ", "), text);
  return text;
}

void check_parameter_names(const std::string& method, const std::vector<ParameterSpec>& specs,
                           const ParameterTexts& texts) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) names.push_back(spec.name);
  for (const auto& [name, text] : texts) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    fail_usage("{} has no parameter '{}'{}; it takes {}", method, name, did_you_mean(name, names),
               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
}

std::string to_string(const ParameterValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

}  // namespace protocom
