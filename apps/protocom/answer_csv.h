#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom::cli {

/// What an image of none of the classes is called.
inline constexpr const char* kNoneOfThese = "none of these";

/// The classes of an answer and, with a calibration, none of these among them: the one that is answered, then the
/// others, most probable first.
std::vector<std::pair<std::string, double>> ranking_with_none(const Answer& answer);

/// The same with the group first, if the answer has one.
std::vector<std::pair<std::string, double>> ranking_with_group(const Answer& answer);

/// "hoof +0.81; tail -0.10": the attributes of an answer with their effects.
std::string attribute_words(const std::vector<AttributeEffect>& attributes, const char* between);

/// Answers as CSV:
/// - "csv": a row for each image, with as many classes as are requested;
/// - "csv-long": a row for each of these classes, each with the fields and the group of the answer; attributes, similar
///   images and the prediction set are in the first row alone; "none of these" has no row;
/// - "timelapse": a row for each image as Timelapse takes them (File, and RelativePath from its root folder).
struct AnswerCsv {
  std::string format = "csv";
  size_t classes = 1;               ///< of an answer, at most
  bool boxes = false;               ///< whether images are boxes of images, which get columns of their own
  std::filesystem::path root = {};  ///< of "timelapse"
  bool groups = false;              ///< whether Answer::group gets columns of its own
  bool sets = false;                ///< whether the classes of a set (Answer::set) get a column of their own
  bool series = false;              ///< whether the number of the image's series gets a column of its own

  static std::vector<std::string> formats() { return {"csv", "csv-long", "timelapse"}; }
  static bool is_format(const std::string& format);

  /// The lines, each with its end.
  [[nodiscard]] std::string header() const;
  /// `number`: of the image's series, where they have a column.
  [[nodiscard]] std::string rows(const std::filesystem::path& image, const Answer& answer, int64_t number = 0) const;
};

}  // namespace protocom::cli
