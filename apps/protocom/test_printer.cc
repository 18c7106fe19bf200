#include "test_printer.h"

#include <algorithm>

#include "answer_printer.h"
#include "cli.h"
#include "eval/test_figures.h"
#include "standard_streams.h"

namespace protocom::cli {
namespace {

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string share_text(int64_t part, int64_t all) {
  return fmt::format("{} of {} ({:.1f} %)", part, all, 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string accuracy_text(const TestResult& result) {
  return fmt::format("{} (95 %: {:.1f} to {:.1f}), {} of {} photos", percent_text(result.accuracy), 100 * result.low,
                     100 * result.high, result.right, result.images);
}

std::string calibration_text(const TestResult& result) {
  return fmt::format("{} on average, {} are right; calibration error {:.1f} points, log loss {:.3f}",
                     percent_text(result.certainty), percent_text(result.accuracy), 100 * result.expected_error,
                     result.log_loss);
}

std::string unknown_text(const TestResult& result) {
  if (result.calibrated) return share_text(result.unknown - result.accepted, result.unknown) + " refused";
  return fmt::format("{} photos of {} classes, none refused: not calibrated (protocom calibrate)", result.unknown,
                     result.unknown_classes.size());
}

/// Returns the lines of a test's result: name and text; no text if there is nothing to report.
std::vector<std::vector<std::string>> result_lines(const TestResult& result) {
  const std::string kept = result.calibrated ? share_text(result.kept_right, result.images) : "";
  return {{"recognizer",
           fmt::format("{}: {} classes, {} ({})", result.recognizer, result.enrolled, result.method, result.mode)},
          {"accuracy", accuracy_text(result)},
          {"among the first five", result.top5 ? percent_text(*result.top5) : ""},
          {"certainty", calibration_text(result)},
          {"own photos refused", result.calibrated ? share_text(result.refused, result.images) : ""},
          {"right and not refused", kept},
          {"unknown photos", result.unknown > 0 ? unknown_text(result) : ""}};
}

void print_facts(const TestResult& result) {
  std::vector<std::vector<std::string>> rows = result_lines(result);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row[1].empty(); }), rows.end());
  print_table(rows);
}

void print_left_out(const TestResult& result) {
  for (const auto& [count, words] :
       {std::pair(result.already_enrolled, "skipped, since they are already enrolled"),
        {result.unshared, "skipped, since only one of the recognizers has their class"},
        {result.unlabelled, "among the unlabelled photos that the recognizer uses (semi-supervised)"}}) {
    if (count > 0) fmt::print("Photos {}: {}.\n", words, count);
  }
}

void print_how() {
  fmt::print(
      "Accuracy counts the most probable class, even if the answer is 'none of these'. Its interval (Wilson) assumes "
      "independent\nphotos: photos of one moment make it too narrow. The calibration error (ECE) has 15 bins.\n");
}

void print_classes(const TestResult& result) {
  std::vector<TerminalColumn> columns = {
      {"class", 13}, {"photos", 6, false, true}, {"right", 6, false, true}, {"share", 6, false, true}};
  if (result.calibrated) columns.push_back({"refused", 7, false, true, 2});
  columns.push_back({"most often taken for", 20, false, false, 1});
  std::vector<std::vector<TerminalCell>> rows;
  for (const TestedClass& own : result.classes) {
    const double share = static_cast<double>(own.right) / static_cast<double>(own.images);
    rows.push_back({{own.name, Tone::kStrong},
                    {std::to_string(own.images)},
                    {std::to_string(own.right)},
                    {fmt::format("{:.0f} %", 100 * share), confidence_tone(share)}});
    if (result.calibrated) rows.back().push_back({std::to_string(own.refused)});
    rows.back().push_back(
        {own.confused == 0 ? "" : fmt::format("{} ({})", own.confused_with, own.confused), Tone::kFaint});
  }
  print_coloured("\n" + terminal_table(columns, rows, results_terminal()));
}

std::string right_text(const TestedImage& image) {
  return image.known ? image.class_name : fmt::format("{} ({})", kNoneOfThese, image.class_name);
}

std::string answer_text(const TestedImage& image) {
  return image.is_refused() ? fmt::format("{:.3f} {}", *image.none, kNoneOfThese)
                            : fmt::format("{:.3f} {}", sureness(image), image.answer);
}

void print_worst(const TestResult& result, int64_t worst) {
  const std::vector<int64_t> places = worst_answers(result, worst);
  if (places.empty()) return;
  std::vector<std::vector<TerminalCell>> rows;
  for (const int64_t place : places) {
    const TestedImage& image = result.tested[static_cast<size_t>(place)];
    rows.push_back({{image.image}, {right_text(image)}, {answer_text(image), Tone::kBad}});
  }
  const std::vector<TerminalColumn> columns = {
      {"most confident wrong answers", 20, true}, {"right", 12}, {"answer", 14}};
  print_coloured("\n" + terminal_table(columns, rows, results_terminal()));
}

void print_differing(const ComparedTests& tests, int64_t most) {
  std::vector<std::vector<TerminalCell>> rows;
  for (const int64_t place : tests.comparison.differing) {
    if (static_cast<int64_t>(rows.size()) == most) break;
    const TestedImage& one = tests.first.tested[static_cast<size_t>(place)];
    rows.push_back({{one.image},
                    {right_text(one)},
                    {answer_text(one)},
                    {answer_text(tests.second.tested[static_cast<size_t>(place)])}});
  }
  if (rows.empty()) return;
  const std::vector<TerminalColumn> columns = {
      {"answered differently", 20, true}, {"right", 12}, {"first", 14}, {"second", 14}};
  print_coloured("\n" + terminal_table(columns, rows, results_terminal()));
  const auto left = static_cast<int64_t>(tests.comparison.differing.size()) - static_cast<int64_t>(rows.size());
  if (left > 0) fmt::print("{} more (--worst, --csv, --json)\n", left);
}

}  // namespace

void print_test(const TestResult& result, int64_t worst) {
  print_facts(result);
  print_left_out(result);
  print_how();
  print_classes(result);
  print_worst(result, worst);
}

void print_comparison(const ComparedTests& tests, int64_t worst) {
  print_facts(tests.first);
  fmt::print("\n");
  print_facts(tests.second);
  print_left_out(tests.first);
  print_how();
  fmt::print("\nThe second is {}.\n", comparison_sentence(tests.comparison));
  print_differing(tests, worst);
}

}  // namespace protocom::cli
