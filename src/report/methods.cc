#include "protocom/report/methods.h"

#include <algorithm>

#include "protocom/fewshot/methods.h"
#include "report/method_of.h"

namespace protocom {
namespace {

constexpr size_t kExtraColours = 8;

std::string extra(size_t index) { return "extra-" + std::to_string(index % kExtraColours + 1); }

/// The colour of a known method; empty for others.
std::string own_class(const std::string& label) {
  const MethodSpec* spec = spec_of(label);
  if (spec == nullptr) return "";
  if (spec->paper_row > 0) return "m-" + spec->name;
  size_t place = 0;
  for (const MethodSpec* one : method_specs()) {
    if (one == spec) break;
    place += one->paper_row == 0 ? 1 : 0;
  }
  return extra(place);
}

}  // namespace

const MethodSpec* spec_of(const std::string& label) {
  const std::string name = label.substr(0, label.find(':'));
  const auto& specs = method_specs();
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const MethodSpec* one) { return one->name == name; });
  return found == specs.end() ? nullptr : *found;
}

std::vector<std::string> method_classes(const std::vector<std::string>& labels) {
  std::vector<std::string> classes;
  const auto taken = [&](const std::string& one) {
    return std::find(classes.begin(), classes.end(), one) != classes.end();
  };
  for (const std::string& label : labels) {
    std::string own = own_class(label);
    for (size_t i = 0; i < kExtraColours && (own.empty() || taken(own)); ++i) own = extra(i);
    classes.push_back(own);
  }
  return classes;
}

std::string method_class(const std::string& label) { return method_classes({label}).front(); }

std::string method_about(const std::string& label) {
  const MethodSpec* spec = spec_of(label);
  return spec == nullptr ? "" : spec->about;
}

std::string method_label(const std::string& label, const std::string& mode) {
  return mode.empty() || mode == "inductive" ? label : label + " (" + mode + ")";
}

}  // namespace protocom
