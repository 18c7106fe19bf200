#include "fewshot/methods.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/near_matches.h"
#include "fewshot/add_method.h"
#include "fewshot/method_call.h"
#include "fewshot/method_definition.h"
#include "fewshot/method_list.h"

namespace protocom {
namespace {

/// Sorts by the paper's rows in its order, then by name.
std::vector<MethodDefinition> ordered(std::vector<MethodDefinition> definitions) {
  const auto key = [](const MethodDefinition& definition) {
    return std::tuple(definition.spec.paper_row == 0, definition.spec.paper_row, definition.spec.name);
  };
  std::sort(definitions.begin(), definitions.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return definitions;
}

const std::vector<MethodDefinition>& definitions() {
  static const std::vector<MethodDefinition> kDefinitions = [] {
    std::vector<MethodDefinition> all = methods::list();
    for (MethodDefinition& definition : methods::trained_list()) all.push_back(std::move(definition));
    return ordered(std::move(all));
  }();
  return kDefinitions;
}

/// The methods added by programs (add_method); a deque, because its elements stay where they are.
struct AddedMethods {
  std::mutex mutex;
  std::deque<MethodDefinition> definitions;
};

AddedMethods& added_methods() {
  static AddedMethods added;
  return added;
}

/// Returns null if none of `all` has that name; adds the existing names to `names`.
template <typename Definitions>
const MethodDefinition* find_in(const Definitions& all, const std::string& name, std::vector<std::string>& names) {
  for (const MethodDefinition& definition : all) {
    if (definition.spec.name == name) return &definition;
    names.push_back(definition.spec.name);
  }
  return nullptr;
}

const MethodDefinition& definition(const std::string& name) {
  std::vector<std::string> names;
  if (const MethodDefinition* found = find_in(definitions(), name, names)) return *found;
  {
    const std::lock_guard lock(added_methods().mutex);
    if (const MethodDefinition* found = find_in(added_methods().definitions, name, names)) return *found;
  }
  const std::string near = did_you_mean(name, names);
  fail_usage("unknown method '{}'{}", name,
             near.empty() ? fmt::format(": expected one of {}", fmt::join(names, ", ")) : near);
}

std::string label_of(const MethodSpec& spec, const ParameterTexts& texts) {
  std::string label = spec.name;
  for (const ParameterSpec& parameter : spec.parameters) {
    const auto found = texts.find(parameter.name);
    if (found == texts.end()) continue;
    const ParameterValue value = parse_parameter(spec.name, parameter, found->second);
    if (value != parameter.default_value) label += fmt::format(":{}={}", parameter.name, to_string(value));
  }
  return label;
}

bool has(const std::vector<std::string>& labels, const std::string& label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// Returns the labels of methods of that name.
std::vector<std::string> named(const std::vector<std::string>& labels, const std::string& name) {
  std::vector<std::string> found;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(found),
               [&](const std::string& label) { return label.substr(0, label.find(':')) == name; });
  return found;
}

bool is_there(Need need, const MethodContext& context) {
  switch (need) {
    case Need::kCompletionModel:
      return context.model != nullptr && context.classes != nullptr;
    case Need::kKnowledge:
      return context.knowledge != nullptr && context.class_names != nullptr;
    case Need::kBaseFeatures:
      return context.base != nullptr && context.base->features.size(0) > 0;
    case Need::kFeatureMaps:
      return context.maps.defined();
    default:  // checked by the batch or the method itself
      return true;
  }
}

}  // namespace

const std::vector<const MethodSpec*>& method_specs() {
  static const std::vector<const MethodSpec*> kSpecs = [] {
    std::vector<const MethodSpec*> specs;
    for (const MethodDefinition& definition : definitions()) specs.push_back(&definition.spec);
    return specs;
  }();
  return kSpecs;
}

void add_method(MethodSpec spec, std::function<std::unique_ptr<Method>()> make) {
  const std::string name = spec.name;
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    fail_usage("name of a method: expected lower-case letters, digits and hyphens, found '{}'", name);
  AddedMethods& added = added_methods();
  const std::lock_guard lock(added.mutex);
  std::vector<std::string> names;
  if (find_in(definitions(), name, names) != nullptr || find_in(added.definitions, name, names) != nullptr)
    fail_usage("the method '{}' exists already", name);
  auto make_checked = [name, make = std::move(make)](const ParameterTexts& texts) {
    check_parameter_names(name, {}, texts);
    return make();
  };
  added.definitions.push_back({std::move(spec), std::move(make_checked), {}});
}

std::vector<const MethodSpec*> added_method_specs() {
  const std::lock_guard lock(added_methods().mutex);
  std::vector<const MethodSpec*> specs;
  for (const MethodDefinition& definition : added_methods().definitions) specs.push_back(&definition.spec);
  return specs;
}

const ParameterTries& parameter_tries(const std::string& method) { return definition(method).tries; }

const MethodSpec& method_spec(const std::string& name) { return definition(name).spec; }

std::vector<std::string> paper_rows() {
  std::vector<std::string> names;
  for (const MethodSpec* spec : method_specs()) {
    if (spec->paper_row > 0) names.push_back(spec->name);
  }
  return names;
}

std::unique_ptr<Method> make_method(const std::string& text) {
  const MethodCall call(text);
  const MethodDefinition& found = definition(call.name);
  std::unique_ptr<Method> method = found.make(call.parameters);
  method->spec_ = &found.spec;
  method->label_ = label_of(found.spec, call.parameters);
  return method;
}

std::string checked_label(const std::string& text) {
  const MethodCall call(text);
  const MethodSpec& spec = method_spec(call.name);
  check_parameter_names(spec.name, spec.parameters, call.parameters);
  return label_of(spec, call.parameters);
}

Methods make_methods(const std::vector<std::string>& texts) {
  if (texts.empty()) fail_usage("expected the name of a method");
  Methods all;
  std::set<std::string> labels;
  for (const std::string& text : texts) {
    all.push_back(make_method(text));
    if (!labels.insert(all.back()->label()).second) fail_usage("duplicate method '{}'", all.back()->label());
  }
  return all;
}

std::vector<std::string> labels_of(const Methods& methods) {
  std::vector<std::string> labels;
  for (const auto& method : methods) labels.push_back(method->label());
  return labels;
}

std::string label_meant(const std::vector<std::string>& labels, const std::string& text) {
  const std::string exact = checked_label(text);
  if (has(labels, exact)) return exact;
  if (text.find(':') != std::string::npos) return "";
  const std::vector<std::string> found = named(labels, text);
  if (found.size() > 1) fail_usage("'{}' is ambiguous ({}): name one of them in full", text, fmt::join(found, " or "));
  return found.empty() ? "" : found.front();
}

std::vector<KnowledgePair> knowledge_pairs(const std::vector<std::string>& labels) {
  std::vector<KnowledgePair> pairs;
  for (const std::string& without : labels) {
    const size_t place = without.find(kWithoutKnowledge);
    if (place == std::string::npos) continue;
    std::string plain = without;
    plain.erase(place, std::string(kWithoutKnowledge).size());
    std::vector<std::string> others = named(labels, without.substr(0, without.find(':')));
    others.erase(std::find(others.begin(), others.end(), without));
    if (has(others, plain)) {
      pairs.emplace_back(plain, without);
    } else if (others.size() == 1) {
      pairs.emplace_back(others.front(), without);
    }
  }
  return pairs;
}

bool is_optional(const MethodSpec& spec, Need need) {
  if (spec.trained_by_torch) return false;  // only the plug-in can make it
  const std::unique_ptr<Method> method = make_method(spec.name);
  return need == Need::kFitting ? !method->state().empty() : !method->needs(need);
}

void check_needs(const Method& method, const MethodContext& context) {
  const MethodSpec& spec = method.spec();
  for (const Need need : spec.needs) {
    if (method.needs(need) && !is_there(need, context)) fail_usage("'{}' needs {}", spec.name, to_string(need));
  }
  if (spec.has(Need::kFitting) && method.state().empty())
    fail_usage("'{}' is not fitted: run `protocom fit --method {}`", spec.name,
               spec.fitted_as.empty() ? spec.name : spec.fitted_as);
}

}  // namespace protocom
