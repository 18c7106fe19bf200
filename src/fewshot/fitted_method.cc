#include "fewshot/fitted_method.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/feature_values.h"
#include "fewshot/method_call.h"
#include "fewshot/method_parameters.h"

namespace protocom {
namespace {

constexpr const char* kKind = "fitted-method";
constexpr int kFormatVersion = 1;
constexpr const char* kPrefix = "state.";
constexpr const char* kAttributes = "attributes";
constexpr const char* kFindings = "findings";

MethodState read_state(const NpzReader& reader) {
  MethodState state;
  const std::string prefix = kPrefix;
  for (const std::string& name : reader.names()) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    Array array = reader.array(name);
    if (is_real(array.type()) && !is_finite(array)) fail("{}: '{}' is not finite", reader.path().string(), name);
    state.tensors.emplace_back(name.substr(prefix.size()), std::move(array));
  }
  if (reader.has(kAttributes)) state.attributes = reader.strings(kAttributes);
  return state;
}

/// Returns the value of a parameter in a method's label.
ParameterValue value_in(const MethodCall& label, const ParameterSpec& parameter) {
  const auto given = label.parameters.find(parameter.name);
  return given == label.parameters.end() ? parameter.default_value
                                         : parse_parameter(label.name, parameter, given->second);
}

/// Makes the method of `call` with the state of a fitted one; parameters of fitting are the file's.
std::unique_ptr<Method> make_variant(const Method& fitted, MethodCall call) {
  const MethodCall file(fitted.label());
  for (const ParameterSpec& parameter : fitted.spec().parameters) {
    if (!parameter.when_fitted || file.name != call.name) continue;
    const ParameterValue value = value_in(file, parameter);
    if (call.parameters.count(parameter.name) != 0 && value_in(call, parameter) != value) {
      fail_usage("'{}' is requested, but the file was fitted with {}={}: run `protocom fit` with the {} you want",
                 call.text(), parameter.name, to_string(value), parameter.name);
    }
    call.parameters[parameter.name] = to_string(value);
  }
  std::unique_ptr<Method> variant = make_method(call.text());
  variant->load(fitted.state());
  return variant;
}

/// Whether a file has the state requested.
bool gives(const FittedMethod& method, const MethodCall& call) {
  try {
    make_variant(*method.method, call);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Returns the name under which a method is fitted.
const std::string& fitted_name(const MethodSpec& spec) { return spec.fitted_as.empty() ? spec.name : spec.fitted_as; }

bool is_fitted(const std::vector<FittedMethod>& fitted, const MethodSpec& spec) {
  return std::any_of(fitted.begin(), fitted.end(),
                     [&](const FittedMethod& method) { return method.method->spec().name == fitted_name(spec); });
}

/// Selects the file for a method: the only one of its name, else the one with its label, else the only one that has the
/// state requested.
const FittedMethod& source_of(const std::vector<FittedMethod>& fitted, const MethodCall& call) {
  const MethodSpec& spec = method_spec(call.name);
  const std::string& name = fitted_name(spec);
  std::vector<const FittedMethod*> found;
  for (const FittedMethod& method : fitted) {
    if (method.method->spec().name == name) found.push_back(&method);
  }
  if (found.empty())
    fail_usage("'{}' is not fitted: run `protocom fit --method {}`, then give its file by --fitted", spec.name, name);
  if (found.size() == 1) return *found.front();
  const std::string label = make_method(call.text())->label();
  for (const FittedMethod* method : found) {
    if (method->method->label() == label) return *method;
  }
  found.erase(std::remove_if(found.begin(), found.end(), [&](const auto* item) { return !gives(*item, call); }),
              found.end());
  if (found.size() == 1) return *found.front();
  std::vector<std::string> labels;
  for (const FittedMethod& method : fitted) {
    if (method.method->spec().name == name) labels.push_back(method.method->label());
  }
  fail_usage("'{}' matches {} of the files given ({}): name its parameters, or give one file", label,
             found.empty() ? "none" : "several", fmt::join(labels, ", "));
}

/// Returns the method requested, as in the file if it is the same one, else as a variant.
std::shared_ptr<const Method> taken_from(const FittedMethod& file, const MethodCall& call) {
  const bool as_it_is = call.name == file.method->spec().name &&
                        (call.parameters.empty() || make_method(call.text())->label() == file.method->label());
  if (as_it_is) return file.method;
  return make_variant(*file.method, call);
}

/// Whether the method has a parameter that leaves its knowledge out.
bool can_forget(const MethodSpec& spec) {
  const std::string without = kWithoutKnowledge;  // ":name=value"
  const size_t equals = without.find('=');
  return std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const ParameterSpec& parameter_spec) {
    return parameter_spec.name == without.substr(1, equals - 1) &&
           std::find(parameter_spec.choices.begin(), parameter_spec.choices.end(), without.substr(equals + 1)) !=
               parameter_spec.choices.end();
  });
}

void check_can_be_fitted(const MethodSpec& spec, const FitInputs& inputs) {
  if (!spec.fitted_as.empty())
    fail_usage("'{0}' uses the fitted file of '{1}': fit '{1}', and name both in --methods", spec.name, spec.fitted_as);
  if (!spec.has(Need::kFitting)) fail_usage("'{}' needs no fitting: name it in --methods of evaluate", spec.name);
  if (spec.has(Need::kKnowledge) && inputs.knowledge == nullptr)
    fail_usage("'{}' needs {}", spec.name, to_string(Need::kKnowledge));
  if (spec.has(Need::kFeatureMaps) && !inputs.maps.maps.defined())
    fail_usage("'{}' needs {}", spec.name, to_string(Need::kFeatureMaps));
  if (!inputs.base.features.defined() || inputs.base.features.size(0) == 0)
    fail("the features have no base class: '{}' is fitted on base classes", spec.name);
}

}  // namespace

FittedMethod fit_method(const std::string& method, const FitInputs& inputs) {
  FittedMethod fitted{make_method(method), 0, {}};
  check_can_be_fitted(fitted.method->spec(), inputs);
  fitted.feature_dim = inputs.base.features.size(1);
  const std::set<int64_t> classes(inputs.base.labels.begin(), inputs.base.labels.end());
  for (const int64_t label : classes) fitted.trained_on.push_back(inputs.class_names->at(static_cast<size_t>(label)));
  fitted.method->fit(inputs);
  fitted.findings = fitted.method->findings();
  return fitted;
}

void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details) {
  const MethodState state = fitted.method->state();
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = details;
  header.details["method"] = fitted.method->label();
  header.details["feature_dim"] = fitted.feature_dim;
  header.details["trained_on"] = fitted.trained_on;
  if (nlohmann::json found = fitted.method->details(); !found.empty()) header.details["fit"] = std::move(found);
  if (!fitted.findings.empty()) header.details[kFindings] = fitted.findings;
  NpzWriter writer(path);
  for (const auto& [name, array] : state.tensors) writer.add(kPrefix + name, array);
  if (!state.attributes.empty()) writer.add(kAttributes, state.attributes);
  add_header(writer, header);
  writer.close();
}

FittedMethod read_fitted_method(const std::filesystem::path& path) {
  const NpzReader reader(path);
  const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
  FittedMethod fitted;
  try {
    fitted.method = make_method(header.details.at("method").get<std::string>());
    header.details.at("feature_dim").get_to(fitted.feature_dim);
    header.details.at("trained_on").get_to(fitted.trained_on);
    fitted.findings = header.details.value(kFindings, fitted.findings);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is damaged: {}", path.string(), reason_of(error));
  } catch (const UsageError& error) {
    fail("{}: {}", path.string(), error.what());
  }
  try {
    fitted.method->load(read_state(reader));
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
  return fitted;
}

FittedMethod space_of(const FittedMethod& fitted) {
  FittedMethod space;
  space.method = fitted.method->as_space();
  space.feature_dim = fitted.feature_dim;
  if (space.method == nullptr) fail("'{}' cannot be used on other classes: fit 'plda' instead", fitted.method->label());
  return space;
}

FittedMethod read_space(const std::filesystem::path& path) {
  const FittedMethod fitted = read_fitted_method(path);
  try {
    return space_of(fitted);
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

Methods make_methods(const std::vector<std::string>& texts, const std::vector<FittedMethod>& fitted) {
  Methods all = make_methods(texts);
  std::set<const FittedMethod*> used;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->spec().has(Need::kFitting)) continue;
    const MethodCall call(texts[i]);
    if (!all[i]->state().empty() && !is_fitted(fitted, all[i]->spec())) continue;  // needs no fitted state
    const FittedMethod& source = source_of(fitted, call);
    used.insert(&source);
    all[i] = taken_from(source, call);
  }
  for (const FittedMethod& method : fitted) {
    if (used.count(&method) == 0)
      fail_usage("no method uses the file of '{0}': name '{0}' without a space, or leave the file out",
                 method.method->label());
  }
  return all;
}

std::shared_ptr<const Method> make_method(const std::string& text, const std::vector<FittedMethod>& fitted) {
  std::shared_ptr<const Method> method = make_method(text);
  if (!method->spec().has(Need::kFitting)) return method;
  if (!method->state().empty() && !is_fitted(fitted, method->spec())) return method;
  const MethodCall call(text);
  return taken_from(source_of(fitted, call), call);
}

std::optional<int64_t> fitted_shots(const Method& method) {
  const MethodSpec& spec = method.spec();
  const auto parameter =
      std::find_if(spec.parameters.begin(), spec.parameters.end(),
                   [](const ParameterSpec& parameter_spec) { return parameter_spec.name == "shots"; });
  if (!spec.has(Need::kFitting) || parameter == spec.parameters.end()) return std::nullopt;
  return std::get<int64_t>(value_in(MethodCall(method.label()), *parameter));
}

std::string warning_of_other_shots(const Method& method, const Shots& asked) {
  const auto fitted = fitted_shots(method);
  if (!fitted || (asked.fewest == *fitted && asked.most == *fitted)) return "";
  const std::string found =
      asked.fewest == asked.most ? std::to_string(asked.most) : fmt::format("{} to {}", asked.fewest, asked.most);
  return fmt::format(
      "'{}' was fitted for {} labelled image{} per class, found {}: run `protocom fit --method {}:shots=...` with the "
      "number you want",
      method.label(), *fitted, *fitted == 1 ? "" : "s", found, method.spec().name);
}

std::vector<std::string> default_methods(const CompletionModel* model, const std::vector<FittedMethod>& fitted) {
  std::vector<std::string> methods;
  for (const FittedMethod& fitted_method : fitted) {
    const MethodSpec& own = fitted_method.method->spec();
    const auto same = std::count_if(fitted.begin(), fitted.end(),
                                    [&](const FittedMethod& other) { return other.method->spec().name == own.name; });
    methods.push_back(same == 1 ? own.name : fitted_method.method->label());
    if (same > 1) continue;  // a variant of the file's method would be ambiguous
    if (can_forget(own) && !fitted_method.method->state().attributes.empty())
      methods.push_back(own.name + kWithoutKnowledge);
    for (const MethodSpec* spec : method_specs()) {
      if (spec->fitted_as == own.name) methods.push_back(spec->name);
    }
  }
  const auto rest = model == nullptr ? std::vector<std::string>{"mean"} : paper_rows();
  methods.insert(methods.end(), rest.begin(), rest.end());
  return methods;
}

}  // namespace protocom
