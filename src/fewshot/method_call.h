#pragma once
#include <map>
#include <string>

namespace protocom {

/// A method and its parameters as typed: "gauss-fusion:scale=20:steps=3".
struct MethodCall {
  std::string name;
  std::map<std::string, std::string> parameters = {};  ///< those that are given

  /// Parses the text; does not check that the method exists. Throws UsageError for a parameter without a name or value,
  /// and for one given twice.
  explicit MethodCall(const std::string& text);
  /// The call as a user may type it, parameters sorted by name.
  [[nodiscard]] std::string text() const;
};

}  // namespace protocom
