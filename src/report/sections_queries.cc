#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocom/report/analysis_sections.h"
#include "protocom/report/methods.h"
#include "report/interval_words.h"
#include "report/method_of.h"
#include "report/section_words.h"

namespace protocom {
namespace {

/// "inductive" or "transductive", of a method that has just been run.
std::string method_mode(const std::string& label) { return std::string(spec_of(label)->mode()); }

BarChart class_chart(std::vector<ClassScore> classes, const std::string& method) {
  BarChart chart;
  chart.id = "classes-accuracy";
  chart.title = fmt::format("Accuracy by class, {}", method);
  chart.high = 100.0;
  chart.unit = "%";
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.accuracy.value > b.accuracy.value; });
  for (const ClassScore& one : classes)
    chart.bars.push_back({one.title, "", one.accuracy.value, one.accuracy.ci95, method_class(method)});
  return chart;
}

/// Places of the classes whose accuracies are highest, or lowest with a sign of -1, the most extreme first.
std::vector<size_t> at_the_end(const std::vector<ClassScore>& classes, double sign) {
  std::vector<Estimate> values;
  for (const ClassScore& one : classes) values.push_back({sign * one.accuracy.value, one.accuracy.ci95});
  return not_measurably_below_best(values);
}

/// Without those that are at the other end too, as a class between two that overlap it is.
std::string say_end(const std::vector<ClassScore>& classes, const std::vector<size_t>& end,
                    const std::vector<size_t>& other) {
  std::vector<std::string> names;
  for (const size_t place : end) {
    if (std::find(other.begin(), other.end(), place) == other.end()) names.push_back(classes[place].title);
  }
  const Estimate& first = classes[end.front()].accuracy;
  return fmt::format("{} ({:.0f} ± {:.0f} %)", listed(names), first.value, first.ci95);
}

std::string best_and_worst(const std::vector<ClassScore>& classes) {
  const std::vector<size_t> best = at_the_end(classes, 1);
  const std::vector<size_t> worst = at_the_end(classes, -1);
  if (best.size() == classes.size()) return "No class is told apart measurably better than another.";
  return fmt::format("Told apart best: {}; worst: {}.", say_end(classes, best, worst), say_end(classes, worst, best));
}

/// The confusion that was seen most often and how often, if it was in several episodes: the queries of one share their
/// supports.
std::string most_confused(const std::vector<ClassScore>& classes) {
  const auto confused = std::max_element(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
    return a.confused_percent < b.confused_percent;
  });
  if (confused->confused_episodes < 2) return "";
  return fmt::format(
      " No confusion was seen more often than {} taken for {}: {:.0f} % of the queries in episodes with "
      "both, in {} of these.",
      confused->title, confused->confused_with, confused->confused_percent, confused->confused_episodes);
}

/// Whose probabilities are nearest to the truth, and on which side of it they are.
std::string best_calibrated(const std::vector<ReliabilityCurve>& methods) {
  std::vector<Estimate> errors;
  for (const ReliabilityCurve& one : methods) errors.push_back({-one.expected_error, one.expected_error_ci95});
  std::vector<std::string> names;
  const auto places = not_measurably_below_best(errors);
  for (const size_t place : places) names.push_back(method_label(methods[place].method, methods[place].mode));
  const ReliabilityCurve& best = methods[places.front()];
  const Estimate over{100 * best.overconfidence, 100 * best.overconfidence_ci95};
  const Verdict verdict = verdict_of(over);
  const std::string side = verdict == Verdict::kUnclear
                               ? "neither measurably too high nor too low"
                               : fmt::format("{:.1f} ± {:.1f} points too {}", std::abs(over.value), over.ci95,
                                             verdict == Verdict::kMore ? "high" : "low");
  return fmt::format("Probabilities are least off for {}, by {:.1f} ± {:.1f} points on average; {} {}.", listed(names),
                     100 * best.expected_error, 100 * best.expected_error_ci95,
                     names.size() > 1 ? "those of the first are" : "they are", side);
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

Section classes_section(const ClassesAnalysis& analysis, const EpisodeOptions& episodes) {
  Section section{"classes", "Class by class", "", "", {}, {}};
  section.finding = best_and_worst(analysis.classes) + most_confused(analysis.classes);
  section.how =
      fmt::format("Method {} ({}). ", analysis.method, method_mode(analysis.method)) + say_episodes(episodes) +
      " An entry of the matrix is the percentage of the queries of one class that were taken for another one, "
      "among the episodes that contain both.";
  HeatMap map;
  map.id = "classes-confusion";
  map.title = "Confusion matrix, % of the queries of a class";
  map.row_title = "true class";
  map.column_title = "predicted class";
  for (const ClassScore& one : analysis.classes) map.labels.push_back(one.title);
  map.percent = analysis.confusion;
  section.figures = {map, class_chart(analysis.classes, analysis.method)};
  ReportTable table{"Accuracy, %, and the class it is taken for most often", {"Class", "Accuracy", "Taken for"}, {}};
  std::vector<ClassScore> ordered = analysis.classes;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.accuracy.value > b.accuracy.value; });
  for (const ClassScore& one : ordered) {
    const std::string confusion = fmt::format("{} ({:.0f} %)", one.confused_with, one.confused_percent);
    table.rows.push_back({one.title, percent_cell(one.accuracy), one.confused_with.empty() ? "–" : confusion});
  }
  section.tables = {table};
  return section;
}

Section calibration_section(const std::vector<ReliabilityCurve>& methods, const EpisodeOptions& episodes) {
  Section section{"calibration", "Whether probabilities can be believed", "", "", {}, {}};
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
                    {"Method", "Error", "Too high by"},
                    {}};
  std::vector<std::string> names;
  for (const ReliabilityCurve& one : methods) names.push_back(one.method);
  const auto colours = method_classes(names);
  for (size_t m = 0; m < methods.size(); ++m) {
    const ReliabilityCurve& one = methods[m];
    LineSeries series{method_label(one.method, one.mode), colours[m], {}, {}, {}};
    for (const CalibrationBin& bin : one.bins) {
      series.x.push_back(bin.confidence);
      series.y.push_back(bin.accuracy);
    }
    chart.series.push_back(series);
    table.rows.push_back({series.label, percent_cell({100.0 * one.expected_error, 100.0 * one.expected_error_ci95}),
                          signed_interval({100.0 * one.overconfidence, 100.0 * one.overconfidence_ci95}, 1)});
  }
  section.finding = best_calibrated(methods);
  section.how = say_episodes(episodes) + " Bins of equal width; bins without queries are left out.";
  section.figures = {chart};
  section.tables = {table};
  return section;
}

Section episodes_section(const EpisodesAnalysis& analysis, const TitleSource& title, const EpisodeOptions& episodes) {
  Section section{"episodes", "Episodes that lost from fusion", "", "", {}, {}};
  section.finding = fmt::format(
      "GaussFusion (transductive) makes {:.0f} % of the episodes worse than the class mean and leaves {:.0f} % as they "
      "are; on average it {}.",
      analysis.lost_percent, analysis.unchanged_percent, worth_words(analysis.change));
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
  for (const EpisodeChange& one : analysis.worst) {
    table.rows.push_back({fmt::format("{}", one.episode), fmt::format("{:.1f}", one.mean),
                          fmt::format("{:.1f}", one.completed), fmt::format("{:.1f}", one.fused),
                          signed_points(one.change), joined(one.classes, title)});
  }
  section.tables = {table};
  return section;
}

Section failures_section(const std::vector<Mistake>& mistakes, const std::string& method,
                         const EpisodeOptions& episodes, const PictureSource& picture) {
  Section section{"failures", "The surest mistakes", "", "", {}, {}};
  section.finding = mistakes.empty()
                        ? std::string("There is no mistake to show.")
                        : fmt::format("The surest mistake takes {} for {}, with a probability of {:.0f} %.",
                                      mistakes.front().true_title, mistakes.front().predicted_title,
                                      100.0 * mistakes.front().probability);
  section.how = fmt::format("Method {} ({}): wrong predictions with the highest probability, each image once. ", method,
                            method_mode(method)) +
                say_episodes(episodes);
  ReportTable table{"", {"Image", "True class", "Taken for", "Probability", "Support image of that class"}, {}};
  bool pictures = false;
  std::vector<PictureChart> charts;
  constexpr size_t kRowsAChart = 4;
  for (size_t i = 0; i < mistakes.size(); ++i) {
    const Mistake& one = mistakes[i];
    table.rows.push_back(
        {one.image_id, one.true_title, one.predicted_title, fmt::format("{:.2f}", one.probability), one.support_id});
    if (i % kRowsAChart == 0) charts.push_back({fmt::format("failures-{}", i), "Mistakes", "", {}});
    charts.back().rows.push_back(mistake_row(one, picture));
    for (const PictureTile& tile : charts.back().rows.back().tiles) pictures = pictures || !tile.picture.empty();
  }
  section.figures.assign(charts.begin(), charts.end());
  if (pictures) {
    section.how += " Beside the query a support image of the class it was taken for, and one of its own class.";
    return section;
  }
  section.figures.clear();
  section.tables = {table};
  section.how += " No image of these ids was found: give --images the folder or pack that the features were made of.";
  return section;
}

}  // namespace protocom
