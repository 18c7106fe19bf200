#include "fewshot/method_spec.h"

#include <algorithm>
#include <cmath>

#include "base/enum_words.h"
#include "fewshot/methods.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr EnumWord<Need> kNeeds[] = {{Need::kCompletionModel, "a completion model with its knowledge"},
                                     {Need::kKnowledge, "knowledge of the classes"},
                                     {Need::kBaseFeatures, "features of base classes"},
                                     {Need::kFitting, "fitting"},
                                     {Need::kFeatureMaps, "feature maps (protocom extract --maps)"},
                                     {Need::kOtherClasses, "knowledge of classes outside the task"},
                                     {Need::kMatchedText, "texts of the classes by the image encoder's text encoder"}};

json to_json(const ParameterSpec& parameter) {
  json out = {{"name", parameter.name}, {"text", parameter.text}, {"when_fitted", parameter.when_fitted}};
  std::visit([&](const auto& value) { out["default"] = value; }, parameter.default_value);
  if (!parameter.choices.empty()) {
    out["choices"] = parameter.choices;
    return out;
  }
  if (std::isfinite(parameter.low)) out["low"] = parameter.low;
  if (std::isfinite(parameter.high)) out["high"] = parameter.high;
  return out;
}

}  // namespace

std::string_view to_string(Need need) { return word_of(kNeeds, need); }

bool MethodSpec::has(Need need) const { return std::find(needs.begin(), needs.end(), need) != needs.end(); }

std::string_view MethodSpec::mode() const { return sees == Sees::kAllQueries ? "transductive" : "inductive"; }

json to_json(const MethodSpec& spec) {
  json needs = json::array(), optional = json::array();
  for (const Need need : spec.needs) (is_optional(spec, need) ? optional : needs).push_back(to_string(need));
  json parameters = json::array();
  for (const ParameterSpec& parameter : spec.parameters) parameters.push_back(to_json(parameter));
  return {{"name", spec.name},
          {"about", spec.about},
          {"citation", spec.citation},
          {"mode", spec.mode()},
          {"assumes_balanced_queries", spec.assumes == Assumes::kBalancedQueries},
          {"needs", needs},
          {"optional", optional},
          {"trained_by_torch", spec.trained_by_torch},
          {"notes", spec.notes},
          {"parameters", parameters}};
}

}  // namespace protocom
