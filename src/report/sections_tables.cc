#include <fmt/format.h>

#include "protocom/report/analysis_sections.h"
#include "protocom/report/html_report.h"
#include "protocom/report/methods.h"
#include "report/html_parts.h"
#include "report/interval_words.h"
#include "report/method_of.h"
#include "report/section_words.h"

namespace protocom {
namespace {

std::vector<std::string> names_of(const std::vector<MethodScores>& scores) {
  std::vector<std::string> names;
  for (const MethodScores& one : scores) names.push_back(one.method);
  return names;
}

std::string task_name(const EpisodeShape& shape) { return fmt::format("{}-way {}-shot", shape.n_way, shape.k_shot); }

Bar bar_of(const MethodScores& scores, const Estimate& value, const std::string& css_class) {
  return {scores.method, scores.mode, value.value, value.ci95, css_class};
}

/// How the table of the ablation tells its rows apart, by their numbers 1 to 4.
struct AblationRow {
  const char* number;
  const char* completion;
  const char* fusion;
};

AblationRow ablation_row(const std::string& method) {
  const MethodSpec* spec = spec_of(method);
  switch (spec == nullptr ? 0 : spec->paper_row) {
    case 1:
      return {"(i) ", "–", "–"};
    case 2:
      return {"(ii) ", "✓", "–"};
    case 3:
      return {"(iii) ", "✓", "mean"};
    case 4:
      return {"(iv) ", "✓", "Gaussian"};
    default:
      return {"", "–", "–"};
  }
}

std::string symbol_of(const std::string& method) {
  const MethodSpec* spec = spec_of(method);
  return spec == nullptr ? "" : spec->symbol;
}

BarChart ablation_chart(const TaskScores& task) {
  BarChart chart;
  chart.id = fmt::format("ablation-{}-{}", task.shape.n_way, task.shape.k_shot);
  chart.title = "Accuracy, " + task_name(task.shape);
  chart.high = 100.0;
  chart.unit = "%";
  chart.references = {{100.0 / static_cast<double>(task.shape.n_way), "chance"}};
  const auto colours = method_classes(names_of(task.methods));
  for (size_t m = 0; m < task.methods.size(); ++m)
    chart.bars.push_back(bar_of(task.methods[m], estimate(task.methods[m].accuracy), colours[m]));
  return chart;
}

/// Whose prototypes come nearest, by the differences on the same episodes; "" where there is nothing to compare.
std::string nearest_prototypes(const std::vector<std::string>& labels,
                               const std::vector<std::vector<double>>& cosines) {
  if (labels.size() < 2) return "";
  const auto places = not_measurably_below_best(cosines, kLeastCosine);
  if (places.size() == labels.size()) return " None of them is measurably the nearest.";
  std::vector<std::string> names;
  for (const size_t place : places) names.push_back(labels[place]);
  return fmt::format(" Nearest {} {}.", names.size() > 1 ? "are" : "is", listed(names));
}

std::string gain_words(const TaskScores& task) {
  const MethodScores* mean = find_scores(task.methods, "mean");
  const MethodScores* fused = find_scores(task.methods, "gauss-fusion");
  if (mean == nullptr || fused == nullptr) return "";
  const Estimate gain = paired_difference(fused->accuracy, mean->accuracy);
  return fmt::format("{} ± {:.1f} points in {}-shot tasks", signed_points(gain.value), gain.ci95, task.shape.k_shot);
}

}  // namespace

Section tables_section(const std::vector<Evaluation>& evaluations) {
  Section section{"tables", "Methods by datasets and tasks (tables 1 and 2)", "", "", {}, {}};
  section.finding = headline(evaluations.front());
  section.how = "From the results given; " + protocol_line(evaluations.front());
  section.tables = {comparison_table(evaluations)};
  return section;
}

Section cosine_section(const TaskScores& scores, const EpisodeOptions& episodes) {
  Section section{"cosine", "How near prototypes come to the true centres (table 3)", "", "", {}, {}};
  BarChart chart;
  chart.id = "cosine-bars";
  chart.title = "Cosine to the true centre, " + task_name(scores.shape);
  chart.decimals = 3;
  ReportTable table{
      "Mean cosine over classes and episodes; 1 is the centre itself", {"Prototype", "Symbol", "Cosine"}, {}};
  const auto colours = method_classes(names_of(scores.methods));
  std::string words;
  std::vector<std::string> labels;
  std::vector<std::vector<double>> cosines;
  for (size_t m = 0; m < scores.methods.size(); ++m) {
    const MethodScores& one = scores.methods[m];
    if (one.cosine.empty()) continue;  // a method without prototypes
    const Estimate cosine = estimate(one.cosine);
    chart.bars.push_back(bar_of(one, cosine, colours[m]));
    if (cosine.value < 0.0) chart.low = -1.0;
    const std::string reached = fmt::format("{:.3f} ± {:.3f}", cosine.value, cosine.ci95);
    labels.push_back(method_label(one.method, one.mode));
    cosines.push_back(one.cosine);
    table.rows.push_back({labels.back(), symbol_of(one.method), reached});
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", labels.back(), reached);
  }
  section.finding = fmt::format("Cosine of the prototypes to the true class centres: {}.{}", words,
                                nearest_prototypes(labels, cosines));
  section.how = say_episodes(episodes) + say_modes(names_of(scores.methods));
  section.tables = {table};
  section.figures = {chart};
  return section;
}

Section ablation_section(const std::vector<TaskScores>& tasks, const EpisodeOptions& episodes) {
  Section section{"ablation", "What each part contributes (table 4)", "", "", {}, {}};
  ReportTable table{"Accuracy, %, with the 95 % interval, and the paired difference to row (i) in points",
                    {"Row", "Completion", "Fusion"},
                    {}};
  std::string gains;
  for (const TaskScores& task : tasks) {
    table.columns.push_back(task_name(task.shape));
    table.columns.push_back("over (i)");
    section.figures.emplace_back(ablation_chart(task));
    const std::string words = gain_words(task);
    if (!words.empty()) gains += (gains.empty() ? "" : ", ") + words;
  }
  for (size_t m = 0; m < tasks.front().methods.size(); ++m) {
    const MethodScores& own = tasks.front().methods[m];
    const AblationRow labels = ablation_row(own.method);
    std::vector<std::string> row = {labels.number + method_label(own.method, own.mode), labels.completion,
                                    labels.fusion};
    for (const TaskScores& task : tasks) {
      row.push_back(percent_cell(estimate(task.methods[m].accuracy)));
      const Estimate gain = paired_difference(task.methods[m].accuracy, task.methods.front().accuracy);
      row.push_back(m == 0 ? "" : fmt::format("{} ± {:.1f}", signed_points(gain.value), gain.ci95));
    }
    table.rows.push_back(row);
  }
  section.finding = fmt::format("GaussFusion (transductive) against the class mean: {}.", gains);
  section.how = fmt::format("{} episodes a task, {} queries a class, {} classes, seed {}.", episodes.count,
                            episodes.shape.n_query, to_string(episodes.split), episodes.seed) +
                say_modes(names_of(tasks.front().methods));
  section.tables = {table};
  return section;
}

}  // namespace protocom
