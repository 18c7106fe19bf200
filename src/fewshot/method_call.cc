#include "protocom/fewshot/method_call.h"

#include "protocom/core/error.h"

namespace protocom {

MethodCall::MethodCall(const std::string& text) {
  size_t begin = text.find(':');
  name = text.substr(0, begin);
  while (begin != std::string::npos) {
    const size_t end = text.find(':', begin + 1);
    const std::string part = text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      fail_usage("'{}': a parameter is written name=value, found '{}'", text, part);
    if (!parameters.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
      fail_usage("'{}' gives '{}' twice", text, part.substr(0, equals));
    begin = end;
  }
}

std::string MethodCall::text() const {
  std::string text = name;
  for (const auto& [parameter, value] : parameters) text += fmt::format(":{}={}", parameter, value);
  return text;
}

}  // namespace protocom
