#include "protocom/report/methods.h"

#include <cstdint>
#include <map>

namespace protocom {

std::string method_class(const std::string& method) {
  if (!method_about(method).empty()) return "m-" + method;
  uint32_t hash = 2166136261U;  // FNV-1a: std::hash differs between libraries
  for (const char c : method) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
  return "extra-" + std::to_string(hash % 4 + 1);
}

std::string method_about(const std::string& method) {
  static const std::map<std::string, std::string> kAbout = {
      {"mean", "mean of the support images"},
      {"completed", "that mean, completed by the class’s attributes"},
      {"mean-fusion", "half mean, half completed"},
      {"gauss-fusion", "both fused by how certain each is"},
  };
  const auto found = kAbout.find(method);
  return found == kAbout.end() ? "" : found->second;
}

std::string method_label(const std::string& method, const std::string& mode) {
  return mode.empty() || mode == "inductive" ? method : method + " (" + mode + ")";
}

}  // namespace protocom
