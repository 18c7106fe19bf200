#include "fewshot/plda/detail/findings.h"

#include <fmt/format.h>

namespace protocom {
namespace {

std::string prior_sentence(const PldaModel& model) {
  const double share = 100 * model.explained_left_out;
  const std::string much = share >= 0.5 ? fmt::format("{:.0f} %", share) : "nothing";
  return fmt::format("The settings of the prior {} are those that explain most of base class means left out of it: {}.",
                     model.knowledge->name(), much);
}

nlohmann::json json_of(const ByShots& value) { return {{"0", value.none}, {"1", value.one}, {"5", value.five}}; }

nlohmann::json json_of(const PldaTrial& trial) {
  return {{"what", trial.what},
          {"setting", trial.setting},
          {"figure", trial.figure},
          {"unit", trial.unit},
          {"chosen", trial.chosen}};
}

nlohmann::json json_of(const KnowledgeGain& gain) {
  return {
      {"k_shot", gain.k_shot}, {"without", gain.without}, {"gain", gain.gain}, {"low", gain.low}, {"high", gain.high}};
}

}  // namespace

std::vector<std::string> findings_of(const PldaFit& fit) {
  std::vector<std::string> findings = {knowledge_sentence(fit)};
  if (const std::string sentence = knowledge_gain_sentence(fit.gains); !sentence.empty()) findings.push_back(sentence);
  return findings;
}

std::vector<std::string> settings_of(const PldaFit& fit) {
  std::vector<std::string> settings;
  if (fit.model.knowledge && fit.strength) settings.push_back(prior_sentence(fit.model));
  for (const PldaTrial& trial : fit.tried) {
    if (!trial.chosen) continue;
    settings.push_back(fmt::format("{}: {} ({:.2f} {})", trial.what, trial.setting, trial.figure, trial.unit));
  }
  return settings;
}

nlohmann::json details_of(const PldaFit& fit) {
  const PldaModel& model = fit.model;
  nlohmann::json details = {{"shrinkage", fit.shrinkage},
                            {"floor_factor", fit.floor},
                            {"trust", model.vb.trust},
                            {"spread", model.vb.spread},
                            {"inductive_scale", json_of(model.inductive_scale)},
                            {"transductive_scale", json_of(model.transductive_scale)},
                            {"known_slope", json_of(model.known_slope)},
                            {"known_offset", json_of(model.known_offset)},
                            {"known_alike", json_of(model.known_alike)}};
  if (fit.strength) {
    details["strength"] = *fit.strength;
    details["explained"] = model.explained;
  }
  if (fit.left_out) details["knowledge_left_out"] = true;
  if (model.knowledge) {
    details["prior"] = model.knowledge->name();
    details["explained_left_out"] = model.explained_left_out;
  }
  for (const PldaTrial& trial : fit.tried) details["tried"].push_back(json_of(trial));
  for (const KnowledgeGain& gain : fit.gains) details["knowledge_adds"].push_back(json_of(gain));
  return details;
}

}  // namespace protocom
