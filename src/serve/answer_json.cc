#include "protocom/serve/answer_json.h"

namespace protocom {

using nlohmann::json;

json answer_json(const Answer& answer) {
  json shown = {{"ranking", json::array()},           {"familiarity", answer.familiarity}, {"none", nullptr},
                {"none_of_these", nullptr},           {"attributes", json::array()},       {"nearest", json::array()},
                {"nearest_note", answer.nearest_note}};
  if (answer.none) shown["none"] = *answer.none;
  if (answer.none_of_these) shown["none_of_these"] = *answer.none_of_these;
  for (const RankedClass& one : answer.ranking)
    shown["ranking"].push_back({{"class", one.name}, {"probability", one.probability}});
  for (const TellingAttribute& one : answer.attributes)
    shown["attributes"].push_back({{"attribute", one.name}, {"words", one.words}, {"effect", one.effect}});
  for (const NearExample& one : answer.nearest) {
    shown["nearest"].push_back(
        {{"example", one.id}, {"class", one.class_name}, {"source", one.source}, {"similarity", one.similarity}});
  }
  return shown;
}

}  // namespace protocom
