#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/html_report.h"
#include "report/methods.h"

namespace protocom {
namespace {

/// A column: one task of one dataset. Evaluations of one dataset share it, so that a model for 1 shot and one for 5
/// are side by side.
using Column = std::tuple<size_t, int64_t, int64_t, std::string>;  // dataset, n_way, k_shot, task

/// A row: a method by its name, so that different tunings for different shots share one row; by its label if one column
/// has several labels of that name.
struct Row {
  std::string method;
  std::string mode;
  std::vector<std::string> settings = {};  // ":steps=20", "" for the defaults; each once

  bool operator==(const Row& other) const { return method == other.method && mode == other.mode; }
};

struct Cells {
  std::vector<std::string> datasets;
  std::set<Column> columns;
  std::vector<Row> rows;  // inductive ones first, each once
  std::map<std::pair<size_t, Column>, const MethodResult*> results;
};

template <typename T>
size_t index_or_append(std::vector<T>& all, const T& t) {
  const auto found = std::find(all.begin(), all.end(), t);
  if (found != all.end()) return static_cast<size_t>(found - all.begin());
  all.push_back(t);
  return all.size() - 1;
}

std::string name_of(const std::string& label) { return label.substr(0, label.find(':')); }

Column column_of(size_t dataset, const MethodResult& result) {
  return {dataset, result.n_way, result.k_shot, result.task};
}

/// Returns the names that occur in one column with several labels of one mode.
std::set<std::string> names_of_variants(const std::vector<Evaluation>& evaluations) {
  std::set<std::string> found;
  std::vector<std::string> datasets;
  std::map<std::tuple<Column, std::string, std::string>, std::string> labels;
  for (const Evaluation& evaluation : evaluations) {
    const size_t dataset = index_or_append(datasets, evaluation.dataset_name());
    for (const MethodResult& result : evaluation.results) {
      const std::string name = name_of(result.method);
      const auto first = labels.emplace(std::tuple{column_of(dataset, result), name, result.mode}, result.method).first;
      if (first->second != result.method) found.insert(name);
    }
  }
  return found;
}

/// Returns the rows by mode, then in the order in which evaluations first have them.
std::vector<Row> rows_of(const std::vector<Evaluation>& evaluations, const std::set<std::string>& variants) {
  std::vector<Row> rows;
  for (const Evaluation& evaluation : evaluations) {
    for (const auto& [label, mode] : evaluation.methods()) {
      const std::string name = name_of(label);
      Row& row = rows[index_or_append(rows, {variants.count(name) > 0 ? label : name, mode})];
      index_or_append(row.settings, label.substr(name.size()));
    }
  }
  std::stable_partition(rows.begin(), rows.end(), [](const Row& row) { return row.mode == "inductive"; });
  return rows;
}

Cells gather(const std::vector<Evaluation>& evaluations) {
  const auto variants = names_of_variants(evaluations);
  Cells cells;
  cells.rows = rows_of(evaluations, variants);
  for (const Evaluation& evaluation : evaluations) {
    const size_t dataset = index_or_append(cells.datasets, evaluation.dataset_name());
    for (const MethodResult& result : evaluation.results) {
      const Column column = column_of(dataset, result);
      const std::string name = name_of(result.method);
      const size_t row = index_or_append(cells.rows, {variants.count(name) > 0 ? result.method : name, result.mode});
      cells.columns.insert(column);
      // If two files have the same result, the first one counts.
      cells.results.emplace(std::pair{row, column}, &result);
    }
  }
  return cells;
}

/// Returns the name with a mark for its mode, and in a second line what it assumes and its settings.
std::string head(const Row& row) {
  std::vector<std::string> notes;
  if (const std::string assumes = method_assumes(row.method); !assumes.empty()) notes.push_back(assumes);
  for (const std::string& setting : row.settings) {
    if (!setting.empty()) notes.push_back(setting.substr(1));
    if (setting.empty() && row.settings.size() > 1) notes.emplace_back("defaults");
  }
  return name_of(row.method) + (row.mode == "inductive" ? "" : "\u00a0*") +
         (notes.empty() ? "" : fmt::format("\n{}", fmt::join(notes, "; ")));
}

std::string cell(const Cells& cells, size_t row, const Column& column) {
  const auto found = cells.results.find({row, column});
  if (found == cells.results.end()) return "–";
  const Estimate& own = found->second->accuracy;
  bool best = true;
  for (size_t other = 0; other < cells.rows.size(); ++other) {
    const auto rival = cells.results.find({other, column});
    if (rival == cells.results.end() || cells.rows[other].mode != cells.rows[row].mode) continue;
    best = best && rival->second->accuracy.value <= own.value;
  }
  return fmt::format("{}{:.2f} ± {:.2f}", best ? "✓ " : "", own.value, own.ci95);
}

}  // namespace

ReportTable comparison_table(const std::vector<Evaluation>& evaluations) {
  const Cells cells = gather(evaluations);
  ReportTable table;
  table.caption =
      "Accuracy, %, with the 95 % interval over episodes; ✓ the highest of a column among its kind; * uses unlabelled "
      "images (transductive or semi-supervised)";
  table.columns = {"Method"};
  for (const Column& column : cells.columns)
    table.columns.push_back(fmt::format("{}: {}", cells.datasets[std::get<0>(column)], std::get<3>(column)));
  for (size_t m = 0; m < cells.rows.size(); ++m) {
    std::vector<std::string> row = {head(cells.rows[m])};
    for (const Column& column : cells.columns) row.push_back(cell(cells, m, column));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace protocom
