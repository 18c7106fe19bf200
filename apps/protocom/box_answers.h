#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/boxes.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Answers about boxes, written into the JSON that says where these are: MegaDetector's gets `classifications` of its
/// detections and `classification_categories`, of which other programs for camera traps read a species; COCO's gets the
/// recognizer's categories, of its annotations those with an answer, and their `score`. A group (Answer::group) is a
/// category of its own, before the classes. All else stays as it is there.
class BoxAnswers {
 public:
  static std::vector<std::string> formats() { return {"megadetector", "coco"}; }
  static bool is_format(const std::string& format);

  /// One of the formats, and the boxes that were requested. Throws UsageError unless their file has that format.
  BoxAnswers(const std::string& format, const BoxChoice& boxes);

  void add(const Crop& box, const Answer& answer);
  /// The file, by the recognizer's classes.
  [[nodiscard]] std::string text(Recognizer& recognizer);

 private:
  [[nodiscard]] std::vector<std::string> categories(Recognizer& recognizer) const;
  void write_megadetector(const std::vector<std::string>& classes);
  void write_coco(const std::vector<std::string>& classes);

  struct Answered {
    BoxPlace place;
    std::vector<std::pair<std::string, double>> ranking;  ///< most probable first, none of these among them
  };
  std::string format_;
  nlohmann::json root_;
  std::vector<Answered> answers_;
};

}  // namespace protocom::cli
