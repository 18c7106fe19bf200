#include "report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fewshot/methods.h"
#include "report/detail/html_parts.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"
#include "report/svg.h"

namespace protocom {
namespace {

using Rows = std::vector<const MethodResult*>;

/// Returns the results of the task with the fewest shots.
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

/// Returns the pairs of a task: a method with and without its knowledge.
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

namespace {

/// Returns "82 of 100 right with 1 photo per class".
std::string right_words(double accuracy, int64_t k_shot, bool first) {
  const std::string count = format_number(accuracy, 0) + (first ? " of 100 right" : "");
  if (k_shot == 0) return count + " without a photo";
  return fmt::format("{} with {} photo{} per class", count, k_shot, k_shot == 1 ? "" : "s");
}

const MethodResult* best_of(const Rows& rows) {
  return *std::max_element(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::pair(a->mode == "inductive", a->accuracy.value) < std::pair(b->mode == "inductive", b->accuracy.value);
  });
}

/// Returns the rows of a method in plain tasks, defined by n classes and k shots alone.
Rows plain_rows(const Evaluation& evaluation, const MethodResult& method) {
  Rows rows;
  for (const MethodResult& row : evaluation.results) {
    const bool plain = row.task == fmt::format("{}-way {}-shot", row.n_way, row.k_shot);
    if (plain && row.method == method.method && row.mode == method.mode) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::pair(a->n_way, a->k_shot) < std::pair(b->n_way, b->k_shot);
  });
  return rows;
}

/// Returns how many of 100 were right by `label` with the most classes of the analysis "ways": "; 20 at once: 62".
std::string at_most_classes(const std::vector<AnalysisFile>& analyses, const std::string& label, int64_t beyond) {
  for (const AnalysisFile& analysis : analyses) {
    if (analysis.section.name != "ways") continue;
    const auto& header = analysis.header;
    const bool has_options = header.is_object() && header.contains("options") && header.at("options").is_object();
    const auto shots = has_options ? header.at("options").value("k-shot", nlohmann::json()) : nlohmann::json();
    for (const Figure& figure : analysis.section.figures) {
      if (id_of(figure) != "ways-accuracy" || !std::holds_alternative<LineChart>(figure)) continue;
      for (const LineSeries& series : std::get<LineChart>(figure).series) {
        if (series.label != label || series.x.empty() || series.x.back() <= static_cast<double>(beyond)) continue;
        if (!shots.is_number_integer()) continue;
        return fmt::format("{:.0f} classes at once: {}", series.x.back(),
                           right_words(series.y.back(), shots.get<int64_t>(), true));
      }
    }
  }
  return "";
}

}  // namespace

std::vector<const MethodResult*> rows_of_best(const Evaluation& evaluation) {
  const MethodResult& best = *best_of(fewest_shots(evaluation));
  Rows rows = plain_rows(evaluation, best);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const auto* row) { return row->n_way != best.n_way; }),
             rows.end());
  return rows;
}

std::string expectation(const Evaluation& evaluation, const std::vector<AnalysisFile>& analyses) {
  const MethodResult& best = *best_of(fewest_shots(evaluation));
  const Rows rows = plain_rows(evaluation, best);
  if (rows.empty()) return "";
  std::vector<std::string> sentences;
  for (size_t i = 0; i < rows.size(); ++i) {
    const MethodResult& row = *rows[i];
    const bool first = i == 0 || rows[i - 1]->n_way != row.n_way;
    const std::string words = right_words(row.accuracy.value, row.k_shot, first);
    if (first) {
      sentences.push_back(fmt::format("{} classes at once: {}", row.n_way, words));
    } else {
      sentences.back() += ", " + words;
    }
  }
  const std::string more = at_most_classes(analyses, method_label(best.method, best.mode), rows.back()->n_way);
  if (!more.empty()) sentences.push_back(more);
  return fmt::format("{} ({}, {}).", fmt::join(sentences, "; "), best.method, best.mode);
}

std::optional<Estimate> knowledge_gain(const Evaluation& evaluation, const MethodResult& method) {
  const Rows rows = evaluation.of(method.task);
  for (const auto& [with, without] : pairs_of(rows)) {
    if (with == method.method) return gain_over(*row_of(rows, with), *row_of(rows, without));
  }
  return std::nullopt;
}

ReportTable knowledge_table(const Evaluation& evaluation) {
  ReportTable table{"What knowledge adds, points over the same method without it on the same episodes", {"Method"}};
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
