#include "protocom/fewshot/fitted_method.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "protocom/core/error.h"

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
  for (auto& method : all) {
    const MethodSpec& spec = method->spec();
    if (!spec.has(Need::kFitting)) continue;
    const std::string& source = spec.fitted_as.empty() ? spec.name : spec.fitted_as;
    const FittedMethod* found = find(fitted, source);
    if (found == nullptr)
      fail_usage("'{}' has to be fitted first: `protocom fit --method {}`, then --fitted FILE", spec.name, source);
    used.insert(source);
    if (method->label() == source) {
      method = found->method;
      continue;
    }
    std::unique_ptr<Method> variant = make_method(method->label());
    variant->load(found->method->state());
    method = std::move(variant);
  }
  for (const FittedMethod& one : fitted) {
    if (used.count(one.method->spec().name) == 0)
      fail_usage("a file of '{0}' is given, but '{0}' is not among the methods", one.method->spec().name);
  }
  return all;
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
