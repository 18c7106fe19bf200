#include "recognizer/answer_json.h"

namespace protocom {

using nlohmann::json;

json answer_json(const Answer& answer) {
  json shown = {{"ranking", json::array()},           {"familiarity", answer.familiarity}, {"none", nullptr},
                {"none_of_these", nullptr},           {"attributes", json::array()},       {"nearest", json::array()},
                {"nearest_note", answer.nearest_note}};
  if (answer.none) shown["none"] = *answer.none;
  if (!answer.set.empty()) shown["set"] = answer.set;
  if (answer.group) shown["group"] = {{"name", answer.group->name}, {"probability", answer.group->probability}};
  if (answer.none_of_these) shown["none_of_these"] = *answer.none_of_these;
  for (const RankedClass& ranked_class : answer.ranking)
    shown["ranking"].push_back({{"class", ranked_class.name}, {"probability", ranked_class.probability}});
  for (const AttributeEffect& attribute : answer.attributes)
    shown["attributes"].push_back(
        {{"attribute", attribute.name}, {"words", attribute.words}, {"effect", attribute.effect}});
  for (const NearImage& example : answer.nearest) {
    shown["nearest"].push_back({{"example", example.id},
                                {"class", example.class_name},
                                {"source", example.source},
                                {"similarity", example.similarity}});
  }
  return shown;
}

}  // namespace protocom
