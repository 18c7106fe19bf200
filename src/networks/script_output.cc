#include "networks/detail/script_output.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "encoders/feature_names.h"
#include "encoders/output_checks.h"

namespace protocom {
namespace {

std::string below(const std::string& name, const std::string& part) { return name.empty() ? part : name + "." + part; }

std::vector<std::string> names_of_tuple(const c10::IValue& tuple) {
  const auto count = tuple.toTupleRef().elements().size();
  const auto type = tuple.toTupleRef().type();
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back(type->schema() ? type->schema()->arguments().at(i).name() : std::to_string(i));
  return names;
}

void collect(const c10::IValue& given, const std::string& name, std::vector<ScriptOutput>& found) {
  if (given.isTensor()) {
    if (given.toTensor().defined()) found.push_back({name, given.toTensor()});
  } else if (given.isTuple()) {
    const std::vector<std::string> names = names_of_tuple(given);
    for (size_t i = 0; i < names.size(); ++i) collect(given.toTupleRef().elements()[i], below(name, names[i]), found);
  } else if (given.isList()) {
    size_t place = 0;
    for (const c10::IValue& element : given.toListRef()) collect(element, below(name, std::to_string(place++)), found);
  } else if (given.isGenericDict()) {
    for (const auto& entry : given.toGenericDict()) {
      if (entry.key().isString()) collect(entry.value(), below(name, entry.key().toStringRef()), found);
    }
  }
}

bool is_feature(const at::Tensor& value, int64_t images) {
  return value.dim() == 2 && value.size(0) == images && value.is_floating_point();
}

std::string list_of(const std::vector<ScriptOutput>& outputs) {
  std::vector<std::string> texts;
  for (const ScriptOutput& output : outputs)
    texts.push_back(fmt::format("{} [{}]", excerpt(output.name), fmt::join(output.value.sizes(), ", ")));
  return first_of(texts, 12);
}

}  // namespace

std::vector<ScriptOutput> outputs_of(const c10::IValue& given) {
  std::vector<ScriptOutput> found;
  collect(given, "", found);
  return found;
}

ScriptOutput choose_output(const std::vector<ScriptOutput>& outputs, const std::string& asked, int64_t images) {
  const auto named = [&](const std::string& name) {
    return std::find_if(outputs.begin(), outputs.end(), [&](const ScriptOutput& one) { return one.name == name; });
  };
  if (!asked.empty()) {
    if (const auto found = named(asked); found != outputs.end()) return *found;
    refuse_name_of_output(asked, list_of(outputs));
  }
  if (outputs.size() == 1) return outputs.front();
  for (const char* name : kFeatureNames) {
    if (const auto found = named(name); found != outputs.end() && is_feature(found->value, images)) return *found;
  }
  const auto fits = [&](const ScriptOutput& one) { return is_feature(one.value, images); };
  if (std::count_if(outputs.begin(), outputs.end(), fits) == 1)
    return *std::find_if(outputs.begin(), outputs.end(), fits);
  refuse_choice_of_output(list_of(outputs));
}

}  // namespace protocom
