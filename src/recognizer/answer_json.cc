#include "recognizer/answer_json.h"

#include "recognizer/answer_fields.h"

namespace protocom {

using nlohmann::json;

json answer_json(const Answer& answer) {
  json shown = {{"ranking", json::array()}, {"attributes", json::array()}, {"nearest", json::array()}};
  for (const AnswerField& field : kAnswerFields) shown[field.name] = field.value(answer);
  if (!answer.set.empty()) shown["set"] = answer.set;
  if (answer.group) shown["group"] = {{"name", answer.group->name}, {"probability", answer.group->probability}};
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
