#include <fmt/format.h>

#include "report/analysis_sections.h"
#include "report/detail/html_parts.h"
#include "report/detail/section_tables.h"
#include "report/html_report.h"
#include "report/methods.h"

namespace protocom {
namespace {

std::string task_name(const EpisodeShape& shape) { return fmt::format("{}-way {}-shot", shape.n_way, shape.k_shot); }

Bar make_bar(const MethodScores& scores, const Estimate& value, const std::string& css_class) {
  return {scores.method, scores.mode, value.value, value.ci95, css_class};
}

/// How the table of the ablation distinguishes its rows.
struct AblationRow {
  const char* number;
  const char* completion;
  const char* fusion;
};

constexpr AblationRow kAblationRows[] = {{"", "–", "–"},  // by MethodSpec::paper_row
                                         {"(i) ", "–", "–"},
                                         {"(ii) ", "✓", "–"},
                                         {"(iii) ", "✓", "mean"},
                                         {"(iv) ", "✓", "Gaussian"}};

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
  const auto colours = method_classes(methods_in(task.methods));
  for (size_t m = 0; m < task.methods.size(); ++m)
    chart.bars.push_back(make_bar(task.methods[m], estimate(task.methods[m].accuracy), colours[m]));
  return chart;
}

/// Returns "Highest cosine to the true centre: completed, 0.600 ± 0.010 (+0.100 ± 0.002 vs mean)."
std::string highest_cosine(const ReportTable& table, size_t best) {
  const std::vector<std::string>& row = table.rows[best];
  const std::string gain = best == 0 || row[3] == "–" ? "" : fmt::format(" ({} vs {})", row[3], table.rows.front()[0]);
  return fmt::format("Highest cosine to the true centre: {}, {}{}.", row[0], row[2], gain);
}

/// Returns "+30.0 ± 1.2 points in 1-shot tasks".
std::string fusion_gain(const TaskScores& task) {
  const MethodScores* mean = find_scores(task.methods, "mean");
  const MethodScores* fused = find_scores(task.methods, "gauss-fusion");
  if (mean == nullptr || fused == nullptr) return "";
  return fmt::format("{} in {}-shot tasks", points_words(paired_difference(fused->accuracy, mean->accuracy)),
                     task.shape.k_shot);
}

}  // namespace

Section tables_section(const std::vector<Evaluation>& evaluations) {
  Section section{"tables", "Methods by datasets and tasks (Zhang et al. 2021, tables 1 and 2)"};
  section.finding = headline(evaluations.front());
  section.how = "From the results given; " + protocol_line(evaluations.front());
  section.tables = {comparison_table(evaluations)};
  return section;
}

Section cosine_section(const TaskScores& scores, const EpisodeOptions& episodes) {
  Section section{"cosine", "How near prototypes come to the true centres (Zhang et al. 2021, table 3)"};
  BarChart chart;
  chart.id = "cosine-bars";
  chart.title = "Cosine to the true centre, " + task_name(scores.shape);
  chart.decimals = 3;
  ReportTable table{"Mean cosine over classes and episodes; 1 is the centre itself; differences on the same episodes",
                    {"Prototype", "Symbol", "Cosine", "Over the first"},
                    {}};
  const auto colours = method_classes(methods_in(scores.methods));
  const MethodScores* first = nullptr;
  std::vector<double> means;
  for (size_t m = 0; m < scores.methods.size(); ++m) {
    const MethodScores& method_scores = scores.methods[m];
    if (method_scores.cosine.empty()) continue;  // a method without prototypes
    const Estimate cosine = estimate(method_scores.cosine);
    chart.bars.push_back(make_bar(method_scores, cosine, colours[m]));
    if (cosine.value < 0.0) chart.low = -1.0;
    means.push_back(cosine.value);
    table.rows.push_back({method_label(method_scores.method, method_scores.mode), symbol_of(method_scores.method),
                          fmt::format("{:.3f} ± {:.3f}", cosine.value, cosine.ci95),
                          first == nullptr ? "" : paired_cell(method_scores.cosine, first->cosine, 3)});
    if (first == nullptr) first = &method_scores;
  }
  section.finding =
      means.empty() ? "None of the methods has prototypes." : highest_cosine(table, place_of_largest(means));
  section.how = say_episodes(episodes) + say_modes(methods_in(scores.methods));
  section.tables = {table};
  section.figures = {chart};
  return section;
}

Section ablation_section(const std::vector<TaskScores>& tasks, const EpisodeOptions& episodes) {
  Section section{"ablation", "What each part contributes (Zhang et al. 2021, table 4)"};
  ReportTable table{"Accuracy, %, with the 95 % interval, and the paired difference to row (i) in points",
                    {"Row", "Completion", "Fusion"}};
  std::string gains;
  for (const TaskScores& task : tasks) {
    table.columns.push_back(task_name(task.shape));
    table.columns.push_back("over (i)");
    section.figures.emplace_back(ablation_chart(task));
    const std::string words = fusion_gain(task);
    if (!words.empty()) gains += (gains.empty() ? "" : ", ") + words;
  }
  for (size_t m = 0; m < tasks.front().methods.size(); ++m) {
    const MethodScores& own = tasks.front().methods[m];
    const MethodSpec* spec = spec_of(own.method);
    const AblationRow& labels = kAblationRows[spec == nullptr ? 0 : spec->paper_row];
    std::vector<std::string> row = {labels.number + method_label(own.method, own.mode), labels.completion,
                                    labels.fusion};
    for (const TaskScores& task : tasks) {
      row.push_back(percent_cell(estimate(task.methods[m].accuracy)));
      row.push_back(m == 0 ? "" : paired_cell(task.methods[m].accuracy, task.methods.front().accuracy));
    }
    table.rows.push_back(row);
  }
  section.finding = fmt::format("gauss-fusion (transductive) vs mean: {}.", gains);
  section.how = fmt::format("{} episodes per task, {} queries per class, {} classes, seed {}.", episodes.count,
                            episodes.shape.n_query, to_string(episodes.split), episodes.seed) +
                say_modes(methods_in(tasks.front().methods));
  section.tables = {table};
  return section;
}

}  // namespace protocom
