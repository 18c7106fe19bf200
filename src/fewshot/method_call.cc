#include "fewshot/method_call.h"

#include "base/error.h"
#include "base/text.h"

namespace protocom {

MethodCall::MethodCall(const std::string& text) {
  const std::vector<std::string_view> parts = split_at(text, ':');
  name = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string part(parts[i]);
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      fail_usage("'{}': a parameter is written name=value, found '{}'", text, part);
    if (!parameters.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
      fail_usage("'{}': duplicate parameter '{}'", text, part.substr(0, equals));
  }
}

std::string MethodCall::text() const {
  std::string text = name;
  for (const auto& [parameter, value] : parameters) text += fmt::format(":{}={}", parameter, value);
  return text;
}

}  // namespace protocom
