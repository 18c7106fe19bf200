#include "protocom/fewshot/fitted_method.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "fewshot/method_parameters.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/method_call.h"

namespace protocom {
namespace {

constexpr const char* kKind = "fitted-method";
constexpr int kFormatVersion = 1;
constexpr const char* kPrefix = "state.";
constexpr const char* kAttributes = "attributes";

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

/// The value of a parameter in a method's label.
ParameterValue value_in(const MethodCall& label, const ParameterSpec& parameter) {
  const auto given = label.parameters.find(parameter.name);
  return given == label.parameters.end() ? parameter.default_value
                                         : parse_parameter(label.name, parameter, given->second);
}

/// The method of `call` with the state of a fitted one; parameters that count when it is fitted are the file's.
std::unique_ptr<Method> variant_of(const Method& fitted, MethodCall call) {
  const MethodCall file(fitted.label());
  for (const ParameterSpec& parameter : fitted.spec().parameters) {
    if (!parameter.when_fitted || file.name != call.name) continue;
    const ParameterValue value = value_in(file, parameter);
    if (call.parameters.count(parameter.name) != 0 && value_in(call, parameter) != value) {
      fail_usage("'{}' is asked for, but the file was fitted with {}={}: fit it anew for another {}", call.text(),
                 parameter.name, to_string(value), parameter.name);
    }
    call.parameters[parameter.name] = to_string(value);
  }
  std::unique_ptr<Method> variant = make_method(call.text());
  variant->load(fitted.state());
  return variant;
}

/// The file whose method has that name, or null.
const FittedMethod* find(const std::vector<FittedMethod>& fitted, const std::string& name) {
  const auto found = std::find_if(fitted.begin(), fitted.end(),
                                  [&](const FittedMethod& one) { return one.method->spec().name == name; });
  return found == fitted.end() ? nullptr : &*found;
}

}  // namespace

void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = details;
  header.details["method"] = fitted.method->label();
  header.details["feature_dim"] = fitted.feature_dim;
  header.details["trained_on"] = fitted.trained_on;
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
  std::set<std::string> used;
  for (size_t i = 0; i < all.size(); ++i) {
    auto& method = all[i];
    const MethodSpec& spec = method->spec();
    if (!spec.has(Need::kFitting)) continue;
    const std::string& source = spec.fitted_as.empty() ? spec.name : spec.fitted_as;
    const FittedMethod* found = find(fitted, source);
    if (found == nullptr)
      fail_usage("'{}' has to be fitted first: `protocom fit --method {}`, then --fitted FILE", spec.name, source);
    used.insert(source);
    const MethodCall call(texts[i]);
    method = texts[i] == source ? found->method : variant_of(*found->method, call);
  }
  for (const FittedMethod& one : fitted) {
    if (used.count(one.method->spec().name) == 0)
      fail_usage("a file of '{0}' is given, but '{0}' is not among the methods", one.method->spec().name);
  }
  return all;
}

std::optional<int64_t> fitted_shots(const Method& method) {
  const MethodSpec& spec = method.spec();
  const auto parameter = std::find_if(spec.parameters.begin(), spec.parameters.end(),
                                      [](const ParameterSpec& one) { return one.name == "shots"; });
  if (!spec.has(Need::kFitting) || parameter == spec.parameters.end()) return std::nullopt;
  return std::get<int64_t>(value_in(MethodCall(method.label()), *parameter));
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
  std::vector<std::string> methods = model == nullptr ? std::vector<std::string>{"mean"} : paper_rows();
  for (const FittedMethod& one : fitted) {
    for (const MethodSpec* spec : method_specs()) {
      if (spec->fitted_as == one.method->spec().name) methods.push_back(spec->name);
    }
    methods.push_back(one.method->spec().name);
  }
  return methods;
}

}  // namespace protocom
