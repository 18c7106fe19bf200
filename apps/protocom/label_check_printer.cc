#include "label_check_printer.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli.h"
#include "recognizer/label_check.h"
#include "standard_streams.h"
#include "terminal_table.h"

namespace protocom::cli {
namespace {

void print_misplaced(const LabelCheck& check, size_t most) {
  if (check.misplaced.empty()) return;
  fmt::print("These photos may be in the wrong class (about {:.0f} of 100 correct ones are listed too):\n",
             100 * check.false_rate);
  const std::vector<TerminalColumn> columns = {{"photo", 18, true}, {"example", 7, false, true, 1},
                                               {"class", 12},       {"probability", 11, false, true},
                                               {"looks like", 12},  {"its probability", 15, false, true}};
  std::vector<std::vector<TerminalCell>> rows;
  for (size_t i = 0; i < std::min(most, check.misplaced.size()); ++i) {
    const MisplacedImage& image = check.misplaced[i];
    rows.push_back({{image.source},
                    {std::to_string(image.example)},
                    {image.class_name, Tone::kStrong},
                    {fmt::format("{:.3f}", image.probability)},
                    {image.likelier},
                    {fmt::format("{:.3f}", image.likelier_probability)}});
  }
  print_coloured(terminal_table(columns, rows, results_terminal()));
  if (check.misplaced.size() > most) fmt::print("and {} more\n", check.misplaced.size() - most);
}

/// Prints one line per finding.
template <typename Finding>
void print_lines(const std::vector<Finding>& findings, size_t most) {
  for (size_t i = 0; i < std::min(most, findings.size()); ++i) {
    std::string line = one_line(sentence_of(findings[i]));
    if (!line.empty() && line.front() >= 'a' && line.front() <= 'z') line.front() -= 'a' - 'A';
    fmt::print("{}.\n", line);
  }
  if (findings.size() > most) fmt::print("and {} more\n", findings.size() - most);
}

template <typename Finding, typename Concerns>
void keep_if(std::vector<Finding>& findings, const Concerns& concerns) {
  findings.erase(std::remove_if(findings.begin(), findings.end(), [&](const Finding& one) { return !concerns(one); }),
                 findings.end());
}

}  // namespace

void print_label_check(const LabelCheck& check, size_t most) {
  print_misplaced(check, most);
  print_lines(check.shared, most);
  print_lines(check.confused, most);
  const std::string weakest = sentence_of_weakest(check);
  if (!weakest.empty()) fmt::print("M{}.\n", weakest.substr(1));
}

LabelCheck about_classes(LabelCheck check, const std::set<std::string>& classes) {
  const auto has = [&](const std::string& name) { return classes.count(name) > 0; };
  keep_if(check.misplaced, [&](const MisplacedImage& one) { return has(one.class_name); });
  keep_if(check.shared, [&](const SharedImage& one) { return has(one.class_name) || has(one.twin_class); });
  keep_if(check.confused, [&](const ConfusedClasses& one) { return has(one.first) || has(one.second); });
  check.classes.clear();
  return check;
}

}  // namespace protocom::cli
