#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/boxes.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Writes answers for boxes into the JSON that has the boxes: MegaDetector's gets `classifications` of its detections
/// and `classification_categories`, which other programs for camera traps read as species; COCO's gets the recognizer's
/// categories, keeps only annotations with an answer, and gets their `score`. Everything else is unchanged.
class BoxAnswers {
 public:
  static std::vector<std::string> formats() { return {"megadetector", "coco"}; }
  static bool is_format(const std::string& format);

  /// `format`: one of the formats; `boxes`: those requested. Throws UsageError unless their file has that format.
  BoxAnswers(const std::string& format, const BoxChoice& boxes);

  void add(const Crop& box, const Answer& answer);
  /// Returns the file with the answers, named by the recognizer's classes.
  [[nodiscard]] std::string text(Recognizer& recognizer);

 private:
  [[nodiscard]] std::vector<std::string> categories(Recognizer& recognizer) const;
  void write_megadetector(const std::vector<std::string>& classes);
  void write_coco(const std::vector<std::string>& classes);

  struct Answered {
    BoxPlace place;
    std::vector<std::pair<std::string, double>> ranking;  ///< most probable first, including "none of these"
  };
  std::string format_;
  nlohmann::json root_;
  std::vector<Answered> answers_;
};

}  // namespace protocom::cli
