#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer_csv.h"
#include "recognizer/recognizer.h"
#include "terminal_table.h"

namespace protocom::cli {

/// Returns the tone of a probability: sure from 0.9, fair from 0.6 on.
Tone confidence_tone(double probability);

/// Prints and flushes text, so that a program that reads the output gets each line immediately.
void print_at_once(std::string_view text);

/// Prints answers: as lines of JSON or CSV immediately, as a table at the end, or line by line if there is no end.
/// Tables fit the terminal; CSV and JSON have everything that is left out there.
class AnswerPrinter {
 public:
  enum class Layout { kAtTheEnd, kAsTheyCome };
  using WriteText = std::function<void(std::string_view)>;

  static std::vector<std::string> formats() { return {"table", "json", "csv", "csv-long"}; }

  /// `format`: one of AnswerPrinter's formats or of AnswerCsv's; `classes` is set from the recognizer's. `write`
  /// receives everything except tables.
  AnswerPrinter(Recognizer& recognizer, const AnswerCsv& format, Layout layout = Layout::kAtTheEnd,
                WriteText write = &print_at_once);

  /// `series`: the number of the image's series, for AnswerCsv::series and JSON; 0: none.
  void print(const std::filesystem::path& image, const Answer& answer, int64_t series = 0);
  /// Call after the last answer.
  void finish();

  /// Returns the JSON line of an answer; `mode`: the method's (MethodSpec::mode); `series` as for print.
  static std::string json_line(const std::filesystem::path& image, const Answer& answer, std::string_view mode,
                               int64_t series = 0);

 private:
  void print_last_row();
  void add_row(const std::filesystem::path& image, const Answer& answer);
  std::string label(const std::string& name);

  Recognizer& recognizer_;
  AnswerCsv format_;
  Layout layout_;
  WriteText write_;
  std::vector<size_t> widths_;                              // of the columns, if lines are printed one by one
  bool titled_ = false;                                     // whether the title line is printed
  std::vector<std::pair<std::string, std::string>> notes_;  // on nearest examples of other classes, by image
  std::vector<std::vector<TerminalCell>> rows_;
};

}  // namespace protocom::cli
