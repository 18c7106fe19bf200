#pragma once
#include <map>
#include <string>

namespace protocom {

/// A method and parameters of it as they are typed: "gauss-fusion:scale=20:steps=3".
struct MethodCall {
  std::string name;
  std::map<std::string, std::string> parameters = {};  ///< those that are given

  /// Takes it apart; whether there is such a method is not asked. Throws UsageError for a parameter without a name or
  /// value, and one that is given twice.
  explicit MethodCall(const std::string& text);
  /// As it may be typed, parameters by name.
  [[nodiscard]] std::string text() const;
};

}  // namespace protocom
