#include "evaluation_tables.h"

#include "cli.h"
#include "protocom/eval/results_json.h"
#include "protocom/report/methods.h"

namespace protocom::cli {
namespace {

using nlohmann::json;
using Table = std::vector<std::vector<std::string>>;

std::string points(const json& value) { return fmt::format("{:.2f}", value.get<double>()); }

std::string plus_minus(const json& row, const char* field) {
  return fmt::format("{} ± {}", signed_text(row.at(field).get<double>(), 2), points(row.at("ci95")));
}

std::string task_of(const json& row) { return describe(shape_from_json(row)); }

/// The difference of a result to the baseline, if there is one.
std::string gain_of(const json& differences, const json& result, const std::string& baseline) {
  for (const json& row : differences) {
    if (row["method"] == result["method"] && row["baseline"] == baseline && task_of(row) == task_of(result))
      return plus_minus(row, "difference");
  }
  return "";
}

/// The mode, and what the method takes for granted of the queries.
std::string mode_of(const json& row) {
  const auto mode = row["mode"].get<std::string>();
  const std::string assumes = method_assumes(row["method"].get<std::string>());
  return assumes.empty() ? mode : mode + ", " + assumes;
}

void print_accuracies(const json& findings, const std::string& baseline) {
  Table table = {{"task", "method", "accuracy %", "±", "gain over " + baseline, "cosine", "mode", "episodes/s"}};
  const bool timed = findings["results"].front().contains("episodes_per_second");
  if (!timed) table.front().pop_back();
  for (const json& row : findings["results"]) {
    table.push_back({task_of(row), row["method"], points(row["accuracy"]), points(row["ci95"]),
                     gain_of(findings["differences"], row, baseline),
                     row.contains("cosine") ? fmt::format("{:.3f}", row["cosine"].get<double>()) : "", mode_of(row)});
    if (timed) table.back().push_back(fmt::format("{:.0f}", row["episodes_per_second"].get<double>()));
  }
  print_table(table);
}

void print_comparisons(const json& findings, const std::string& baseline) {
  Table table = {{"task", "method", "less", "difference", "better in", "worse in"}};
  for (const json& row : findings["differences"]) {
    if (row["baseline"] == baseline) continue;
    table.push_back({task_of(row), row["method"], row["baseline"], plus_minus(row, "difference"),
                     fmt::format("{:.0f} %", row["better"].get<double>()),
                     fmt::format("{:.0f} %", row["worse"].get<double>())});
  }
  if (table.size() == 1) return;
  fmt::print("\n");
  print_table(table);
}

/// One line per task, seed and method.
void print_seeds(const json& findings) {
  Table table = {{"task", "method", "seed", "accuracy %", "±"}};
  for (const json& row : findings["results"]) {
    for (const json& part : row.value("per_seed", json::array()))
      table.push_back(
          {task_of(row), row["method"], part["seed"].dump(), points(part["accuracy"]), points(part["ci95"])});
  }
  if (table.size() == 1) return;
  fmt::print("\n");
  print_table(table);
}

}  // namespace

void print_findings(const json& findings, const std::string& baseline) {
  print_accuracies(findings, baseline);
  print_comparisons(findings, baseline);
  print_seeds(findings);
  const json& checks = findings["checks"];
  const auto copies = checks["disjoint"].value("copies", int64_t{0});
  fmt::print(
      "\nchecked: {} episodes ({} images): no image appears twice{}, every class is of the split and new to the model; "
      "{} predictions unchanged by the order of the queries\n",
      checks["disjoint"]["episodes"].dump(), checks["disjoint"]["rows"].dump(),
      copies == 0 ? "" : fmt::format(" (but {} of the split have exactly the features of another one)", copies),
      checks["permutation"]["predictions"].dump());
}

}  // namespace protocom::cli
