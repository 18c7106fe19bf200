#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/serve/recognizer.h"

namespace protocom::cli {

/// What an image of none of the classes is called.
inline constexpr const char* kNoneOfThese = "none of these";

/// Prints answers: as lines of JSON or CSV when they come, as a table at the end.
class AnswerPrinter {
 public:
  static std::vector<std::string> formats() { return {"table", "json", "csv"}; }

  /// The recognizer that answers, and one of the formats.
  AnswerPrinter(Recognizer& recognizer, const std::string& format);

  void print(const std::filesystem::path& image, const Answer& answer);
  /// After the last answer.
  void finish();

 private:
  void print_json(const std::filesystem::path& image, const Answer& answer);
  void add_row(const std::filesystem::path& image, const Answer& answer);
  std::string label(const std::string& name);

  Recognizer& recognizer_;
  std::string format_;
  bool shows_attributes_ = false;   // some answer has any
  std::vector<std::string> notes_;  // on nearest examples of other classes
  std::vector<std::vector<std::string>> rows_ = {
      {"image", "class", "probability", "runner-up", "nearest photo", "attributes"}};
};

}  // namespace protocom::cli
