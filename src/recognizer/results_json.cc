#include "recognizer/results_json.h"

#include "eval/test_figures.h"
#include "recognizer/answer_fields.h"

namespace protocom {
namespace {

using nlohmann::json;

json reasons_json(const std::vector<UnreadableFile>& files) {
  json reasons = json::array();
  for (const UnreadableFile& file : files) reasons.push_back(file.reason);
  return reasons;
}

json image_json(const TestedImage& image) {
  json made = {
      {"image", image.image},         {"class", image.class_name}, {"known", image.known},     {"answer", image.answer},
      {"certainty", image.certainty}, {"none", nullptr},           {"none_of_these", nullptr}, {"rank", nullptr},
      {"log_loss", nullptr},          {"right", image.is_right()}};
  if (image.none) {
    made["none"] = *image.none;
    made["none_of_these"] = image.is_refused();
  }
  if (image.known) {
    made["rank"] = image.rank;
    made["log_loss"] = image.loss;
  }
  return made;
}

json class_json(const TestedClass& own) {
  return {{"class", own.name},        {"images", own.images},
          {"right", own.right},       {"refused", own.refused},
          {"confused", own.confused}, {"confused_with", own.confused > 0 ? json(own.confused_with) : json(nullptr)}};
}

void add_lists(const TestResult& result, json& made) {
  for (const char* name : {"classes", "confusion", "bins", "unknown_classes", "tested"}) made[name] = json::array();
  for (const TestedClass& own : result.classes) made["classes"].push_back(class_json(own));
  for (const ConfusionCell& cell : result.confusion)
    made["confusion"].push_back({{"class", cell.class_name}, {"answer", cell.answer}, {"images", cell.images}});
  for (const CertaintyBin& bin : result.bins)
    made["bins"].push_back({{"low", bin.low},
                            {"high", bin.high},
                            {"images", bin.images},
                            {"certainty", bin.certainty},
                            {"accuracy", bin.accuracy}});
  for (const UnknownClass& own : result.unknown_classes)
    made["unknown_classes"].push_back({{"class", own.name}, {"images", own.images}, {"accepted", own.accepted}});
  for (const TestedImage& image : result.tested) made["tested"].push_back(image_json(image));
}

}  // namespace

json answer_json(const Answer& answer) {
  json shown = {{"ranking", json::array()}, {"attributes", json::array()}, {"nearest", json::array()}};
  for (const AnswerField& field : answer_fields()) shown[field.name] = field.value(answer);
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

json enrolled_json(const EnrolledClass& done) {
  return {{"class", done.now.name}, {"is_new", done.is_new}, {"added", done.added}, {"images", done.now.images}};
}

json enrolment_json(const Enrolment& done) {
  json made = {
      {"classes", json::array()}, {"unreadable", reasons_json(done.unreadable)}, {"skipped", done.skipped.describe()}};
  for (const EnrolledClass& enrolled : done.classes) made["classes"].push_back(enrolled_json(enrolled));
  return made;
}

json suggestions_json(const Suggestions& suggestions) {
  json made = {{"images", json::array()},
               {"looked_at", suggestions.looked_at},
               {"already_enrolled", suggestions.already_enrolled},
               {"unreadable", reasons_json(suggestions.unreadable)}};
  for (const Suggestion& one : suggestions.images)
    made["images"].push_back({{"row", one.row},
                              {"image", one.image},
                              {"class", one.answer},
                              {"probability", one.probability},
                              {"runner_up", one.runner_up},
                              {"doubt", one.doubt},
                              {"share", one.share}});
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

json test_json(const TestResult& result) {
  json made = {{"recognizer", result.recognizer},
               {"method", result.method},
               {"mode", result.mode},
               {"calibrated", result.calibrated},
               {"enrolled", result.enrolled},
               {"images", result.images},
               {"right", result.right},
               {"accuracy", result.accuracy},
               {"low", result.low},
               {"high", result.high},
               {"top5", result.top5 ? json(*result.top5) : json(nullptr)},
               {"certainty", result.certainty},
               {"expected_error", result.expected_error},
               {"log_loss", result.log_loss},
               {"refused", result.refused},
               {"kept_right", result.kept_right},
               {"unknown", result.unknown},
               {"accepted", result.accepted},
               {"already_enrolled", result.already_enrolled},
               {"unlabelled", result.unlabelled},
               {"unshared", result.unshared},
               {"skipped", result.skipped.describe()},
               {"unreadable", reasons_json(result.unreadable)}};
  add_lists(result, made);
  made["worst"] = worst_answers(result, static_cast<int64_t>(result.tested.size()));
  return made;
}

json comparison_json(const TestComparison& comparison) {
  return {{"images", comparison.images},
          {"first_only", comparison.first_only},
          {"second_only", comparison.second_only},
          {"difference", comparison.difference},
          {"low", comparison.low},
          {"high", comparison.high},
          {"p_value", comparison.p_value},
          {"differing", comparison.differing}};
}

}  // namespace protocom
