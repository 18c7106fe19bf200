#include "protocom/report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "protocom/fewshot/methods.h"
#include "protocom/report/methods.h"
#include "protocom/report/svg.h"
#include "report/section_tables.h"

namespace protocom {
namespace {

using Rows = std::vector<const MethodResult*>;

/// The results of the task with the fewest shots.
Rows fewest_shots(const Evaluation& evaluation) {
  const auto fewest = std::min_element(
      evaluation.results.begin(), evaluation.results.end(),
      [](const auto& a, const auto& b) { return std::pair(a.k_shot, a.n_way) < std::pair(b.k_shot, b.n_way); });
  return evaluation.of(fewest->task);
}

const MethodResult* row_of(const Rows& rows, const std::string& method) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto* row) { return row->method == method; });
  return found == rows.end() ? nullptr : *found;
}

std::string reached(const MethodResult& row, const MethodResult* mean) {
  const std::string gain = mean == nullptr || mean == &row ? "" : ", " + points_words(gain_over(row, *mean), "mean");
  return fmt::format("{} ({}) {}\u00a0%{}", row.method, row.mode, percent_cell(row.accuracy), gain);
}

/// The pairs of a task: a method with its knowledge and the same without it.
std::vector<KnowledgePair> pairs_of(const Rows& rows) {
  std::vector<std::string> labels;
  for (const MethodResult* row : rows) labels.push_back(row->method);
  return knowledge_pairs(labels);
}

}  // namespace

std::string signed_number(double value, int decimals) {
  const std::string digits = format_number(value, decimals);
  return value > 0.0 && digits.find_first_not_of("0.") != std::string::npos ? "+" + digits : digits;
}

std::string headline(const Evaluation& evaluation) {
  const Rows rows = fewest_shots(evaluation);
  const MethodResult* mean = row_of(rows, "mean");
  std::map<std::string, const MethodResult*> best;  // by mode: inductive first
  for (const MethodResult* row : rows) {
    const MethodResult*& own = best[row->mode];
    if (own == nullptr || own == mean || (row != mean && row->accuracy.value > own->accuracy.value)) own = row;
  }
  std::vector<std::string> words;
  for (const auto& [mode, row] : best) words.push_back(reached(*row, mean));
  return fmt::format("{}: {}.", rows.front()->task, fmt::join(words, "; "));
}

std::string expectation(const Evaluation& evaluation) {
  const Rows rows = fewest_shots(evaluation);
  const auto best = std::max_element(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::pair(a->mode == "inductive", a->accuracy.value) < std::pair(b->mode == "inductive", b->accuracy.value);
  });
  std::map<int64_t, std::map<int64_t, double>> right;  // by classes at once and photos per class
  for (const MethodResult& row : evaluation.results) {
    const bool plain = row.task == fmt::format("{}-way {}-shot", row.n_way, row.k_shot);
    if (plain && row.method == (*best)->method && row.mode == (*best)->mode)
      right[row.n_way][row.k_shot] = row.accuracy.value;
  }
  if (right.empty()) return "";
  std::vector<std::string> sentences;
  for (const auto& [n_way, by_shots] : right) {
    std::vector<std::string> words;
    for (const auto& [k_shot, accuracy] : by_shots) {
      const std::string count = format_number(accuracy, 0) + (words.empty() ? " of 100 right" : "");
      words.push_back(k_shot == 0 ? count + " without a photo"
                                  : fmt::format("{} with {} photo{} per class", count, k_shot, k_shot == 1 ? "" : "s"));
    }
    sentences.push_back(fmt::format("{} classes at once: {}", n_way, fmt::join(words, ", ")));
  }
  return fmt::format("{} ({}, {}).", fmt::join(sentences, "; "), (*best)->method, (*best)->mode);
}

ReportTable knowledge_table(const Evaluation& evaluation) {
  ReportTable table{"What knowledge adds, points over the same method without it on the same episodes", {"Method"}, {}};
  std::vector<std::string> tasks;
  for (const MethodResult& row : evaluation.results) {
    if (std::find(tasks.begin(), tasks.end(), row.task) == tasks.end()) tasks.push_back(row.task);
  }
  std::map<std::string, std::vector<std::string>> cells;
  for (const std::string& task : tasks) {
    table.columns.push_back(task);
    const Rows rows = evaluation.of(task);
    for (const auto& [with, without] : pairs_of(rows)) {
      const MethodResult& row = *row_of(rows, with);
      std::vector<std::string>& own = cells[method_label(with, row.mode)];
      own.resize(table.columns.size() - 2, "–");
      own.push_back(signed_cell(gain_over(row, *row_of(rows, without))));
    }
  }
  for (auto& [label, own] : cells) {
    own.resize(tasks.size(), "–");
    own.insert(own.begin(), label);
    table.rows.push_back(std::move(own));
  }
  return table;
}

std::vector<std::string> knowledge_findings(const Evaluation& evaluation) {
  std::vector<std::string> findings;
  std::copy_if(evaluation.findings.begin(), evaluation.findings.end(), std::back_inserter(findings),
               [](const std::string& finding) { return finding.rfind("Knowledge ", 0) == 0; });
  return findings;
}

}  // namespace protocom
