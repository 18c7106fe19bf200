#include "recognizer/test_json.h"

#include "eval/test_figures.h"

namespace protocom {
namespace {

using nlohmann::json;

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
  for (const char* name : {"classes", "confusion", "bins", "unknown_classes", "tested", "unreadable"})
    made[name] = json::array();
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
  for (const UnreadableFile& file : result.unreadable) made["unreadable"].push_back(file.reason);
}

}  // namespace

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
               {"skipped", result.skipped.describe()}};
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
