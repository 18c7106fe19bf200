#include <fmt/format.h>

#include <algorithm>

#include "report/detail/html_parts.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"
#include "report/svg.h"

namespace protocom {
namespace {

constexpr const char* kWorst = "classes-worst-";

bool begins_with(const std::string& text, const std::string& beginning) { return text.rfind(beginning, 0) == 0; }

const Section* section_named(const std::vector<AnalysisFile>& analyses, const std::string& name) {
  const auto found = std::find_if(analyses.begin(), analyses.end(),
                                  [&](const AnalysisFile& analysis) { return analysis.section.name == name; });
  return found == analyses.end() ? nullptr : &found->section;
}

/// Returns a chart of one analysis with only the curves of the best method and the class mean.
std::optional<LineChart> plain_chart(const std::vector<AnalysisFile>& analyses, const std::string& name,
                                     const std::string& best, const char* title) {
  const Section* section = section_named(analyses, name);
  if (section == nullptr) return std::nullopt;
  for (const Figure& figure : section->figures) {
    if (id_of(figure) != name + "-accuracy" || !std::holds_alternative<LineChart>(figure)) continue;
    LineChart chart = std::get<LineChart>(figure);
    const auto other = [&](const LineSeries& series) { return series.label != best && series.label != "mean"; };
    chart.series.erase(std::remove_if(chart.series.begin(), chart.series.end(), other), chart.series.end());
    const bool has_curve = std::any_of(chart.series.begin(), chart.series.end(), [&](const LineSeries& series) {
      return series.label == best && series.x.size() > 1;
    });
    if (!has_curve) return std::nullopt;
    chart.id = "first-" + name;
    chart.title = title;
    chart.description.clear();
    chart.vertical.clear();
    return chart;
  }
  return std::nullopt;
}

/// Returns "more photos": how much they help, from the tasks that the best method was measured on.
std::string more_photos(const std::vector<const MethodResult*>& rows) {
  if (rows.size() < 2) return "";
  const MethodResult& few = *rows.front();
  const MethodResult& many = *rows.back();
  if (many.accuracy.value - few.accuracy.value < 1.0) return "";
  return fmt::format("Take <b>{} photos per class</b> rather than {}: {:.0f} of 100 are right in place of {:.0f}.",
                     many.k_shot, few.k_shot == 0 ? "none" : std::to_string(few.k_shot), many.accuracy.value,
                     few.accuracy.value);
}

/// Says whether knowledge of the classes is worth collecting.
std::string keep_or_leave_knowledge(const Evaluation& evaluation, const MethodResult& best) {
  const auto gain = knowledge_gain(evaluation, best);
  if (!gain) return "";
  const bool keep = is_significant(*gain) && gain->value > 0;
  return fmt::format("<b>{}</b>: they add {} to {} ({}).",
                     keep ? "Keep the attributes of the classes" : "Omit the attributes of the classes",
                     escape_html(points_words(*gain)), escape_html(best.method), escape_html(best.task));
}

/// Recommends the transductive method if it is more accurate on the same episodes.
std::string as_a_batch(const Evaluation& evaluation, const MethodResult& best) {
  const MethodResult* batch = nullptr;
  for (const MethodResult* row : evaluation.of(best.task)) {
    if (row->mode == "transductive" && (batch == nullptr || row->accuracy.value > batch->accuracy.value)) batch = row;
  }
  if (batch == nullptr || best.mode != "inductive" || !is_significant(gain_over(*batch, best)) ||
      batch->accuracy.value < best.accuracy.value)
    return "";
  const std::string assumes = method_assumes(batch->method);
  return fmt::format(
      "<b>Classify photos that come together as one batch</b>: {} (transductive{}) has {:.0f} of 100 right "
      "in place of {:.0f}.",
      escape_html(batch->method), assumes.empty() ? "" : ", " + assumes, batch->accuracy.value, best.accuracy.value);
}

/// Names the last classes of the table of classes, which is sorted by decreasing accuracy.
std::string more_of_the_worst(const std::vector<AnalysisFile>& analyses) {
  constexpr size_t kNamed = 3;
  const Section* section = section_named(analyses, "classes");
  if (section == nullptr || section->tables.empty() || section->tables.front().columns.size() < 2) return "";
  const auto& rows = section->tables.front().rows;
  if (rows.size() <= kNamed) return "";
  std::vector<std::string> named;
  for (size_t i = 0; i < kNamed; ++i) {
    const auto& row = rows[rows.size() - 1 - i];
    named.push_back(fmt::format("{} ({} %)", row[0], row[1].substr(0, row[1].find(' '))));
  }
  return fmt::format("Add <b>photos of the classes that are right least often</b>: {}.",
                     prose_html(fmt::format("{}", fmt::join(named, ", "))));
}

std::string next_html(const std::vector<std::string>& steps) {
  std::string html;
  for (const std::string& step : steps) {
    if (!step.empty()) html += "<li>" + step + "</li>\n";
  }
  return html.empty() ? "" : "<section id=\"next\">\n<h2>What to do next</h2>\n<ul>\n" + html + "</ul>\n</section>\n";
}

/// Moves the photos of the worst classes from their section to the top of the page.
std::string worst_html(std::vector<AnalysisFile>& analyses) {
  std::string html;
  for (AnalysisFile& analysis : analyses) {
    std::vector<Figure>& figures = analysis.section.figures;
    const auto is_worst = [](const Figure& figure) { return begins_with(id_of(figure), kWorst); };
    for (const Figure& figure : figures) {
      if (is_worst(figure)) html += figure_html(figure);
    }
    figures.erase(std::remove_if(figures.begin(), figures.end(), is_worst), figures.end());
  }
  if (html.empty()) return "";
  return "<section id=\"worst\">\n<h2>Classes that are wrong most often</h2>\n<p class=\"soft\">Photos of the class "
         "that were answered wrong (→: as which class, where it is not the one named), then photos of the class named. "
         "Percentages are of queries where both classes could be chosen.</p>\n<div class=\"charts\">" +
         html + "</div>\n</section>\n";
}

}  // namespace

std::string first_screen_html(const std::vector<Evaluation>& evaluations, std::vector<AnalysisFile>& analyses) {
  if (evaluations.empty()) return worst_html(analyses);
  const Evaluation& evaluation = evaluations.front();
  const auto rows = rows_of_best(evaluation);
  std::vector<std::string> steps;
  if (!rows.empty()) {
    steps = {more_photos(rows), more_of_the_worst(analyses), keep_or_leave_knowledge(evaluation, *rows.front()),
             as_a_batch(evaluation, *rows.front())};
  }
  const std::string best = rows.empty() ? "" : method_label(rows.front()->method, rows.front()->mode);
  std::string charts;
  for (const auto& [name, title] :
       {std::pair("shots", "Accuracy by photos per class"), std::pair("ways", "Accuracy by classes at once")}) {
    if (const auto chart = plain_chart(analyses, name, best, title)) charts += figure_html(*chart);
  }
  if (!charts.empty()) charts = "<div class=\"charts\">" + charts + "</div>\n";
  return charts + next_html(steps) + worst_html(analyses);
}

}  // namespace protocom
