#include "report/methods.h"

#include <algorithm>
#include <map>
#include <set>

#include "fewshot/methods.h"

namespace protocom {
namespace {

constexpr size_t kOwnColours = 40;
constexpr size_t kOtherColours = 12;

/// Returns FNV-1a (Fowler, Noll, Vo), 32 bits: the same on every platform.
uint32_t hash_of(const std::string& text) {
  uint32_t hash = 2166136261U;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 16777619U;
  return hash;
}

/// Returns the colour of each of protocom's methods, whatever is shown with it: the paper's rows have their own, the
/// others the slot that their name hashes to, or the next free one.
std::map<std::string, std::string> known_colours() {
  std::set<std::string> names;
  std::map<std::string, std::string> colours;
  for (const MethodSpec* spec : method_specs()) {
    if (spec->paper_row > 0) {
      colours[spec->name] = "m-" + spec->name;
    } else {
      names.insert(spec->name);
    }
  }
  std::set<size_t> taken;
  for (const std::string& name : names) {
    size_t place = hash_of(name) % kOwnColours;
    for (size_t i = 0; i < kOwnColours && taken.count(place) > 0; ++i) place = (place + 1) % kOwnColours;
    taken.insert(place);
    colours[name] = "extra-" + std::to_string(place + 1);
  }
  return colours;
}

/// Returns the colour of a method given by its name alone; "" for one with parameters or of other programs.
std::string known_colour(const std::string& label) {
  static const std::map<std::string, std::string> kColours = known_colours();
  const auto found = kColours.find(label);
  return found == kColours.end() ? "" : found->second;
}

std::string other(size_t index) { return "other-" + std::to_string(index % kOtherColours + 1); }

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
    std::string own = known_colour(label);
    if (own.empty()) {
      own = other(hash_of(label));
      for (size_t i = 1; i < kOtherColours && taken(own); ++i) own = other(hash_of(label) + i);
    }
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
  const bool is_balanced = label.find(":proportions=balanced") != std::string::npos;
  return is_balanced || spec->assumes == Assumes::kBalancedQueries ? "assumes balanced queries" : "";
}

std::string method_label(const std::string& label, const std::string& mode) {
  return mode.empty() || mode == "inductive" ? label : label + " (" + mode + ")";
}

}  // namespace protocom
