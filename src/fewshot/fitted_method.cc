#include "protocom/fewshot/fitted_method.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kKind = "fitted-method";
constexpr int kFormatVersion = 2;
constexpr const char* kPrefix = "state.";
constexpr const char* kAttributes = "attributes";
constexpr const char* kFindings = "findings";
constexpr const char* kShotsGiven = ":shots=";

MethodState read_state(const NpzReader& reader) {
  MethodState state;
  const std::string prefix = kPrefix;
  for (const std::string& name : reader.names()) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    at::Tensor tensor = reader.tensor(name);
    if (tensor.is_floating_point() && !tensor.isfinite().all().item<bool>())
      fail("{}: '{}' has values that are NaN or infinite", reader.path().string(), name);
    state.tensors.emplace_back(name.substr(prefix.size()), std::move(tensor));
  }
  if (reader.has(kAttributes)) state.attributes = reader.strings(kAttributes);
  return state;
}

/// The method `text` with the state of a fitted one, and for as many shots as that.
std::unique_ptr<Method> variant_of(const Method& fitted, const std::string& text) {
  std::unique_ptr<Method> variant = make_method(text);
  const auto shots = fitted_shots(fitted);
  if (text.find(kShotsGiven) == std::string::npos) {
    if (shots != fitted_shots(*variant)) variant = make_method(fmt::format("{}{}{}", text, kShotsGiven, *shots));
  } else if (shots != fitted_shots(*variant)) {
    fail_usage("'{}' is asked for, but the file was fitted with shots={}: expected the same number", text,
               shots.value_or(0));
  }
  variant->load(fitted.state());
  return variant;
}

/// Whether a file holds the state that `text` asks for.
bool gives(const FittedMethod& one, const std::string& text) {
  try {
    variant_of(*one.method, text);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// The file that `method` is taken from: the only one of its name, else the one with its label, else the only one with
/// what it asks for.
const FittedMethod& source_of(const std::vector<FittedMethod>& fitted, const Method& method) {
  const MethodSpec& spec = method.spec();
  const std::string& name = spec.fitted_as.empty() ? spec.name : spec.fitted_as;
  std::vector<const FittedMethod*> found;
  for (const FittedMethod& one : fitted) {
    if (one.method->spec().name == name) found.push_back(&one);
  }
  if (found.empty())
    fail_usage("'{}' has to be fitted first: `protocom fit --method {}`, then --fitted FILE", spec.name, name);
  if (found.size() == 1) return *found.front();
  for (const FittedMethod* one : found) {
    if (one->method->label() == method.label()) return *one;
  }
  found.erase(std::remove_if(found.begin(), found.end(), [&](const auto* one) { return !gives(*one, method.label()); }),
              found.end());
  if (found.size() == 1) return *found.front();
  std::vector<std::string> labels;
  for (const FittedMethod& one : fitted) {
    if (one.method->spec().name == name) labels.push_back(one.method->label());
  }
  fail_usage("'{}' may be taken from {} of the files given ({}): name its parameters, or give one file", method.label(),
             found.empty() ? "none" : "several", fmt::join(labels, ", "));
}

/// The method that is asked for as the file has it, or a variant of that.
std::shared_ptr<const Method> taken_from(const FittedMethod& file, const Method& asked) {
  const bool as_it_is = asked.label() == file.method->spec().name || asked.label() == file.method->label();
  if (as_it_is) return file.method;
  return variant_of(*file.method, asked.label());
}

/// Whether the method can be told to leave its knowledge out.
bool can_forget(const MethodSpec& spec) {
  const std::string without = kWithoutKnowledge;  // ":name=value"
  const size_t equals = without.find('=');
  return std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const ParameterSpec& one) {
    return one.name == without.substr(1, equals - 1) &&
           std::find(one.choices.begin(), one.choices.end(), without.substr(equals + 1)) != one.choices.end();
  });
}

}  // namespace

void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = details;
  header.details["method"] = fitted.method->label();
  header.details["feature_dim"] = fitted.feature_dim;
  header.details["trained_on"] = fitted.trained_on;
  if (nlohmann::json details = fitted.method->details(); !details.empty()) header.details["fit"] = std::move(details);
  if (!fitted.findings.empty()) header.details[kFindings] = fitted.findings;
  NpzWriter writer(path);
  const MethodState state = fitted.method->state();
  for (const auto& [name, tensor] : state.tensors) writer.add(kPrefix + name, tensor);
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

Methods make_methods(const std::vector<std::string>& texts, const std::vector<FittedMethod>& fitted) {
  Methods all = make_methods(texts);
  std::set<const FittedMethod*> used;
  for (auto& method : all) {
    if (!method->spec().has(Need::kFitting)) continue;
    const FittedMethod& source = source_of(fitted, *method);
    used.insert(&source);
    method = taken_from(source, *method);
  }
  for (const FittedMethod& one : fitted) {
    if (used.count(&one) == 0)
      fail_usage("a file of '{0}' is given, but '{0}' is not among the methods", one.method->label());
  }
  return all;
}

std::shared_ptr<const Method> make_method(const std::string& text, const std::vector<FittedMethod>& fitted) {
  std::shared_ptr<const Method> method = make_method(text);
  return method->spec().has(Need::kFitting) ? taken_from(source_of(fitted, *method), *method) : method;
}

std::optional<int64_t> fitted_shots(const Method& method) {
  const MethodSpec& spec = method.spec();
  const auto parameter = std::find_if(spec.parameters.begin(), spec.parameters.end(),
                                      [](const ParameterSpec& one) { return one.name == "shots"; });
  if (!spec.has(Need::kFitting) || parameter == spec.parameters.end()) return std::nullopt;
  const size_t given = method.label().find(kShotsGiven);
  if (given == std::string::npos) return std::get<int64_t>(parameter->default_value);
  return std::stoll(method.label().substr(given + std::string(kShotsGiven).size()));
}

std::string warning_of_other_shots(const Method& method, const Shots& asked) {
  const auto fitted = fitted_shots(method);
  if (!fitted || (asked.fewest == *fitted && asked.most == *fitted)) return "";
  const std::string found =
      asked.fewest == asked.most ? std::to_string(asked.most) : fmt::format("{} to {}", asked.fewest, asked.most);
  return fmt::format(
      "'{}' was fitted for {} labelled image{} a class and is asked about classes of {}: `protocom fit "
      "--method {}:shots=...` fits it for another number",
      method.label(), *fitted, *fitted == 1 ? "" : "s", found, method.spec().name);
}

std::vector<std::string> default_methods(const CompletionModel* model, const std::vector<FittedMethod>& fitted) {
  std::vector<std::string> methods;
  for (const FittedMethod& one : fitted) {
    const MethodSpec& own = one.method->spec();
    const auto same = std::count_if(fitted.begin(), fitted.end(),
                                    [&](const FittedMethod& other) { return other.method->spec().name == own.name; });
    methods.push_back(same == 1 ? own.name : one.method->label());
    if (same > 1) continue;  // what else a file gives could be of either
    if (can_forget(own) && !one.method->state().attributes.empty()) methods.push_back(own.name + kWithoutKnowledge);
    for (const MethodSpec* spec : method_specs()) {
      if (spec->fitted_as == own.name) methods.push_back(spec->name);
    }
  }
  const auto rest = model == nullptr ? std::vector<std::string>{"mean"} : paper_rows();
  methods.insert(methods.end(), rest.begin(), rest.end());
  return methods;
}

}  // namespace protocom
