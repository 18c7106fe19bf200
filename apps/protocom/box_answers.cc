#include "box_answers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "answer_csv.h"
#include "base/error.h"
#include "base/printed_json.h"
#include "io/json.h"

namespace protocom::cli {
namespace {

using nlohmann::json;

/// Returns the member that identifies a file of a format.
const char* member_of(const std::string& format) {
  return format == "megadetector" ? "detection_categories" : "annotations";
}

double rounded(double probability) { return std::round(probability * 1e5) / 1e5; }

}  // namespace

bool BoxAnswers::is_format(const std::string& format) {
  const auto all = formats();
  return std::find(all.begin(), all.end(), format) != all.end();
}

BoxAnswers::BoxAnswers(const std::string& format, const BoxChoice& boxes) : format_(format) {
  std::error_code ignored;
  const std::string asked = fmt::format("--format {} adds the classes to the JSON of --boxes", format);
  if (boxes.file.empty() || boxes.file.extension() != ".json" || std::filesystem::is_directory(boxes.file, ignored))
    fail_usage("{}: give a .json file of that format", asked);
  root_ = read_json(boxes.file);
  if (!root_.is_object() || !root_.contains("images") || !root_.contains(member_of(format)))
    fail_usage("{}: {} has no {}", asked, boxes.file.string(), member_of(format));
}

void BoxAnswers::add(const Crop& box, const Answer& answer) {
  answers_.push_back({box.place, ranking_with_group(answer)});
}

void BoxAnswers::write_megadetector(const std::vector<std::string>& classes) {
  std::map<std::string, std::string> ids;
  json categories = json::object();
  for (size_t i = 0; i < classes.size(); ++i) {
    ids[classes[i]] = std::to_string(i);
    categories[std::to_string(i)] = classes[i];
  }
  root_["classification_categories"] = std::move(categories);
  root_.erase("classification_category_descriptions");
  for (json& image : root_.at("images")) {
    const auto detections = image.find("detections");
    if (detections == image.end() || !detections->is_array()) continue;
    for (json& detection : *detections) {
      if (detection.is_object()) detection.erase("classifications");  // of other categories
    }
  }
  for (const Answered& answer : answers_) {
    json ranking = json::array();
    for (const auto& [name, probability] : answer.ranking) ranking.push_back({ids.at(name), rounded(probability)});
    json& image = root_.at("images").at(static_cast<size_t>(answer.place.outer));
    image.at("detections").at(static_cast<size_t>(answer.place.inner))["classifications"] = std::move(ranking);
  }
}

void BoxAnswers::write_coco(const std::vector<std::string>& classes) {
  std::map<std::string, size_t> ids;
  json categories = json::array();
  for (size_t i = 0; i < classes.size(); ++i) {
    ids[classes[i]] = i + 1;
    categories.push_back({{"id", i + 1}, {"name", classes[i]}});
  }
  root_["categories"] = std::move(categories);
  json annotations = json::array();
  for (const Answered& answer : answers_) {
    json& annotation = annotations.emplace_back(root_.at("annotations").at(static_cast<size_t>(answer.place.outer)));
    const auto& [name, probability] = answer.ranking.front();
    annotation["category_id"] = ids.at(name);
    annotation["score"] = rounded(probability);
  }
  root_["annotations"] = std::move(annotations);
}

/// Returns the classes, then the other possible answers: groups, and none of these.
std::vector<std::string> BoxAnswers::categories(Recognizer& recognizer) const {
  std::vector<std::string> names = recognizer.class_names();
  std::set<std::string> known(names.begin(), names.end());
  for (const Answered& answer : answers_) {
    for (const auto& [name, probability] : answer.ranking) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

std::string BoxAnswers::text(Recognizer& recognizer) {
  const std::vector<std::string> classes = categories(recognizer);
  format_ == "coco" ? write_coco(classes) : write_megadetector(classes);
  if (!root_.value("info", json::object()).is_object()) root_["info"] = json::object();
  root_["info"]["classifier"] = recognizer.file().path().filename().string();
  return printed_json(root_, 1);
}

}  // namespace protocom::cli
