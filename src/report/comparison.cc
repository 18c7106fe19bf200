#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "protocom/report/html_report.h"

namespace protocom {
namespace {

/// A column: one task of one dataset. Evaluations of one dataset share it, so that a model for 1 shot and one for 5
/// stand side by side.
using Column = std::tuple<size_t, int64_t, int64_t, std::string>;  // dataset, n_way, k_shot, task

struct Cells {
  std::vector<std::string> datasets;
  std::set<Column> columns;
  std::vector<std::pair<std::string, std::string>> methods;  // those that see each query alone first, each once
  std::map<std::pair<size_t, Column>, const MethodResult*> results;
};

template <typename T>
size_t place_of(std::vector<T>& all, const T& one) {
  const auto found = std::find(all.begin(), all.end(), one);
  if (found != all.end()) return static_cast<size_t>(found - all.begin());
  all.push_back(one);
  return all.size() - 1;
}

Cells gather(const std::vector<Evaluation>& evaluations) {
  Cells cells;
  for (const Evaluation& evaluation : evaluations) {
    for (const auto& method : evaluation.methods()) place_of(cells.methods, method);
  }
  std::stable_partition(cells.methods.begin(), cells.methods.end(),
                        [](const auto& method) { return method.second == "inductive"; });
  for (const Evaluation& evaluation : evaluations) {
    const size_t dataset = place_of(cells.datasets, evaluation.dataset_name());
    for (const MethodResult& result : evaluation.results) {
      const Column column{dataset, result.n_way, result.k_shot, result.task};
      cells.columns.insert(column);
      // The first file wins where two tell of the same thing.
      cells.results.emplace(std::pair{place_of(cells.methods, {result.method, result.mode}), column}, &result);
    }
  }
  return cells;
}

std::string cell(const Cells& cells, size_t method, const Column& column) {
  const auto found = cells.results.find({method, column});
  if (found == cells.results.end()) return "–";
  const Estimate& own = found->second->accuracy;
  bool best = true;
  for (size_t other = 0; other < cells.methods.size(); ++other) {
    const auto rival = cells.results.find({other, column});
    best = best && (rival == cells.results.end() || rival->second->accuracy.value <= own.value);
  }
  return fmt::format("{}{:.2f} ± {:.2f}", best ? "✓ " : "", own.value, own.ci95);
}

}  // namespace

ReportTable comparison_table(const std::vector<Evaluation>& evaluations) {
  const Cells cells = gather(evaluations);
  ReportTable table;
  table.caption =
      "Accuracy, %, with the 95 % interval over episodes; ✓ the best of a column; * uses unlabelled images "
      "(transductive or semi-supervised)";
  table.columns = {"Method"};
  for (const Column& column : cells.columns)
    table.columns.push_back(fmt::format("{}: {}", cells.datasets[std::get<0>(column)], std::get<3>(column)));
  for (size_t m = 0; m < cells.methods.size(); ++m) {
    std::vector<std::string> row = {cells.methods[m].first + (cells.methods[m].second == "inductive" ? "" : "\u00a0*")};
    for (const Column& column : cells.columns) row.push_back(cell(cells, m, column));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace protocom
