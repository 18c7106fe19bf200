#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom::cli {

/// The name for images of none of the classes.
inline constexpr const char* kNoneOfThese = "none of these";

/// Returns the ranking of an answer, including "none of these" if there is a calibration: the answer first, then the
/// others, most probable first.
std::vector<std::pair<std::string, double>> ranking_with_none(const Answer& answer);

/// Returns the same ranking, preceded by the group if the answer has one.
std::vector<std::pair<std::string, double>> ranking_with_group(const Answer& answer);

/// Returns "hoof +0.81; tail -0.10": the attributes of an answer with their effects.
std::string attribute_words(const std::vector<AttributeEffect>& attributes, const char* between);

/// Formats answers as CSV:
/// - "csv": one row per image, with as many classes as requested;
/// - "csv-long": one row per class, each with the fields and the group of the answer; attributes, similar images and
///   the prediction set are only in the first row; "none of these" has no row;
/// - "timelapse": one row per image in Timelapse's format (File, and RelativePath from its root folder).
struct AnswerCsv {
  std::string format = "csv";
  size_t classes = 1;               ///< most classes of an answer
  bool boxes = false;               ///< whether images are boxes of images, which get columns of their own
  std::filesystem::path root = {};  ///< for "timelapse"
  bool groups = false;              ///< whether Answer::group gets columns
  bool sets = false;                ///< whether the classes of a set (Answer::set) get a column
  bool series = false;              ///< whether the number of the image's series gets a column

  static std::vector<std::string> formats() { return {"csv", "csv-long", "timelapse"}; }
  static bool is_format(const std::string& format);

  /// The lines, each with its end.
  [[nodiscard]] std::string header() const;
  /// `number`: of the image's series, if there is a column for it.
  [[nodiscard]] std::string rows(const std::filesystem::path& image, const Answer& answer, int64_t number = 0) const;
};

}  // namespace protocom::cli
