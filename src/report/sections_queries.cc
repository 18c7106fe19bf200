#include <fmt/format.h>

#include "report/analysis_sections.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"

namespace protocom {
namespace {

std::string lowest_error(const std::vector<ReliabilityCurve>& methods, const ReportTable& table) {
  std::vector<double> errors;
  for (const ReliabilityCurve& curve : methods) errors.push_back(-curve.expected_error);
  const std::vector<std::string>& best = table.rows[place_of_largest(errors)];
  return fmt::format("Lowest expected calibration error: {}, {} points; mean probability minus accuracy {} points.",
                     best[0], best[1], best[2]);
}

std::string joined(const std::vector<std::string>& names, const TitleSource& title) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + title(name);
  return text;
}

PictureRow mistake_row(const Mistake& mistake, const PictureSource& picture) {
  const auto support = [&](const std::string& id, const std::string& title, const char* caption) {
    return PictureTile{picture(id), caption, fmt::format("a support image of {}: {}", title, id)};
  };
  return {fmt::format("{}, taken for {} ({:.0f} %)", mistake.true_title, mistake.predicted_title,
                      100.0 * mistake.probability),
          {{picture(mistake.image_id), "query", fmt::format("query {}: {}", mistake.image_id, mistake.true_title)},
           support(mistake.support_id, mistake.predicted_title, "taken for"),
           support(mistake.true_support_id, mistake.true_title, "own class")}};
}

}  // namespace

Section calibration_section(const std::vector<ReliabilityCurve>& methods, const EpisodeOptions& episodes) {
  Section section{"calibration", "Calibration of the probabilities"};
  LineChart chart;
  chart.id = "calibration-curve";
  chart.title = "Reliability";
  chart.x_label = "probability of the predicted class (mean of its bin)";
  chart.y_label = "share that is right";
  chart.low = 0.0;
  chart.high = 1.0;
  chart.decimals = 2;
  chart.diagonal = "perfect";
  ReportTable table{"Expected calibration error, in points: mean over queries of |accuracy − probability| of their bin",
                    {"Method", "Error", "Too high by"}};
  const auto colours = method_classes(methods_in(methods));
  for (size_t m = 0; m < methods.size(); ++m) {
    const ReliabilityCurve& curve = methods[m];
    LineSeries series{method_label(curve.method, curve.mode), colours[m], {}, {}, {}};
    for (const CalibrationBin& bin : curve.bins) {
      series.x.push_back(bin.confidence);
      series.y.push_back(bin.accuracy);
    }
    chart.series.push_back(series);
    table.rows.push_back({series.label, percent_cell({100.0 * curve.expected_error, 100.0 * curve.expected_error_ci95}),
                          signed_cell({100.0 * curve.overconfidence, 100.0 * curve.overconfidence_ci95})});
  }
  section.finding = lowest_error(methods, table);
  section.how = say_episodes(episodes) + " Bins of equal width; bins without queries are left out.";
  section.figures = {chart};
  section.tables = {table};
  return section;
}

Section episodes_section(const EpisodesAnalysis& analysis, const TitleSource& title, const EpisodeOptions& episodes) {
  Section section{"episodes", "Episodes that lost from fusion"};
  section.finding = fmt::format(
      "gauss-fusion (transductive) vs mean: {}; worse in {:.0f}\u00a0% of the episodes, the same in {:.0f}\u00a0%.",
      points_words(analysis.change), analysis.lost_percent, analysis.unchanged_percent);
  section.how = say_episodes(episodes);
  LineChart chart;
  chart.id = "episodes-change";
  chart.title = "Change of accuracy by fusion, episode by episode";
  chart.x_label = "episodes, % (ordered by change)";
  chart.y_label = "points, gauss-fusion (transductive) − mean";
  LineSeries series{"one episode", "m-gauss-fusion", {}, analysis.changes, {}};
  for (size_t i = 0; i < analysis.changes.size(); ++i)
    series.x.push_back(100.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(analysis.changes.size()));
  chart.series = {series};
  section.figures = {chart};
  ReportTable table{
      "The largest losses; accuracy in %", {"Episode", "Mean", "Completed", "Fused", "Change", "Classes"}, {}};
  for (const EpisodeChange& change : analysis.worst) {
    table.rows.push_back({fmt::format("{}", change.episode), fmt::format("{:.1f}", change.mean),
                          fmt::format("{:.1f}", change.completed), fmt::format("{:.1f}", change.fused),
                          signed_number(change.change, 1), joined(change.classes, title)});
  }
  section.tables = {table};
  return section;
}

Section failures_section(const std::vector<Mistake>& mistakes, const std::string& method,
                         const EpisodeOptions& episodes, const PictureSource& picture, const Analysed& analysed) {
  Section section{"failures", "The most confident wrong answers"};
  section.finding =
      mistakes.empty() ? std::string("No answer is wrong.")
                       : fmt::format("The most confident wrong answer takes {} for {}, with a probability of {:.0f} %.",
                                     mistakes.front().true_title, mistakes.front().predicted_title,
                                     100.0 * mistakes.front().probability);
  section.how = say_analysed(method, analysed) + "Wrong predictions with the highest probability, each image once. " +
                say_episodes(episodes);
  ReportTable table{"", {"Image", "True class", "Taken for", "Probability", "Support image of that class"}};
  bool pictures = false;
  std::vector<PictureChart> charts;
  constexpr size_t kRowsAChart = 4;
  for (size_t i = 0; i < mistakes.size(); ++i) {
    const Mistake& mistake = mistakes[i];
    table.rows.push_back({mistake.image_id, mistake.true_title, mistake.predicted_title,
                          fmt::format("{:.2f}", mistake.probability), mistake.support_id});
    if (i % kRowsAChart == 0) charts.push_back({fmt::format("failures-{}", i), "Mistakes", "", {}});
    charts.back().rows.push_back(mistake_row(mistake, picture));
    for (const PictureTile& tile : charts.back().rows.back().tiles) pictures = pictures || !tile.picture.empty();
  }
  section.figures.assign(charts.begin(), charts.end());
  if (pictures) {
    section.how += " Beside the query a support image of the class it was taken for, and one of its own class.";
    return section;
  }
  section.figures.clear();
  section.tables = {table};
  section.how +=
      " None of these images was found: give --images the folder or pack from which the features were extracted.";
  return section;
}

}  // namespace protocom
