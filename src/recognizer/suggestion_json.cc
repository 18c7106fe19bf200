#include "recognizer/suggestion_json.h"

namespace protocom {

using nlohmann::json;

json suggestions_json(const Suggestions& suggestions) {
  json made = {{"images", json::array()},
               {"looked_at", suggestions.looked_at},
               {"already_enrolled", suggestions.already_enrolled},
               {"unreadable", json::array()}};
  for (const Suggestion& one : suggestions.images)
    made["images"].push_back({{"row", one.row},
                              {"image", one.image},
                              {"class", one.answer},
                              {"probability", one.probability},
                              {"runner_up", one.runner_up},
                              {"doubt", one.doubt},
                              {"share", one.share}});
  for (const UnreadableFile& file : suggestions.unreadable) made["unreadable"].push_back(file.reason);
  return made;
}

json label_check_json(const LabelCheck& check) {
  json made = {{"asked", check.asked},      {"false_rate", check.false_rate}, {"misplaced", json::array()},
               {"confused", json::array()}, {"shared", json::array()},        {"classes", json::array()}};
  for (const MisplacedImage& image : check.misplaced)
    made["misplaced"].push_back({{"example", image.example},
                                 {"source", image.source},
                                 {"class", image.class_name},
                                 {"probability", image.probability},
                                 {"likelier", image.likelier},
                                 {"likelier_probability", image.likelier_probability}});
  for (const ConfusedClasses& pair : check.confused)
    made["confused"].push_back({{"first", pair.first},
                                {"second", pair.second},
                                {"asked", pair.asked},
                                {"mistaken", pair.mistaken},
                                {"same", pair.same}});
  for (const SharedImage& image : check.shared)
    made["shared"].push_back({{"example", image.example},
                              {"class", image.class_name},
                              {"twin", image.twin},
                              {"twin_class", image.twin_class},
                              {"source", image.source},
                              {"twin_source", image.twin_source},
                              {"copy", image.copy}});
  for (const LeftOutClass& one : check.classes)
    made["classes"].push_back(
        {{"class", one.name}, {"asked", one.asked}, {"right", one.right}, {"probability", one.probability}});
  return made;
}

}  // namespace protocom
