#include "protocom/report/methods.h"

#include <algorithm>

#include "protocom/fewshot/methods.h"
#include "report/method_of.h"

namespace protocom {
namespace {

constexpr size_t kExtraColours = 24;

std::string extra(size_t index) { return "extra-" + std::to_string(index % kExtraColours + 1); }

/// FNV-1a (Fowler, Noll, Vo), 32 bits: the same on every platform.
uint32_t hash_of(const std::string& text) {
  uint32_t hash = 2166136261U;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 16777619U;
  return hash;
}

/// A place among the extra colours that follows from the name alone.
size_t extra_place(const std::string& label) { return hash_of(label.substr(0, label.find(':'))) % kExtraColours; }

bool is_paper_row(const std::string& label) {
  const MethodSpec* spec = spec_of(label);
  return spec != nullptr && spec->paper_row > 0;
}

}  // namespace

const MethodSpec* spec_of(const std::string& label) {
  const std::string name = label.substr(0, label.find(':'));
  const auto& specs = method_specs();
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const MethodSpec* spec) { return spec->name == name; });
  return found == specs.end() ? nullptr : *found;
}

std::vector<std::string> method_classes(const std::vector<std::string>& labels) {
  std::vector<std::string> classes;
  const auto taken = [&](const std::string& text) {
    return std::find(classes.begin(), classes.end(), text) != classes.end();
  };
  for (const std::string& label : labels) {
    std::string own = is_paper_row(label) ? "m-" + spec_of(label)->name : extra(extra_place(label));
    for (size_t i = 0; i < kExtraColours && taken(own); ++i) own = extra(hash_of(label) + i);
    classes.push_back(own);
  }
  return classes;
}

std::string method_class(const std::string& label) { return method_classes({label}).front(); }

std::string method_about(const std::string& label) {
  const MethodSpec* spec = spec_of(label);
  return spec == nullptr ? "" : spec->about;
}

std::string method_assumes(const std::string& label) {
  const MethodSpec* spec = spec_of(label);
  if (spec == nullptr) return "";
  const bool told = label.find(":proportions=balanced") != std::string::npos;
  return told || spec->assumes == Assumes::kBalancedQueries ? "assumes balanced queries" : "";
}

std::string method_label(const std::string& label, const std::string& mode) {
  return mode.empty() || mode == "inductive" ? label : label + " (" + mode + ")";
}

}  // namespace protocom
