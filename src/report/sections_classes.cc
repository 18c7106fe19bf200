#include <fmt/format.h>

#include <algorithm>

#include "report/analysis_sections.h"
#include "report/detail/likeness.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"

namespace protocom {
namespace {

constexpr size_t kMostBars = 24;
constexpr size_t kMostRows = 60;  // of the matrix

std::vector<ClassScore> by_falling_accuracy(std::vector<ClassScore> classes) {
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.accuracy.value > b.accuracy.value; });
  return classes;
}

/// Charts the classes; if there are many, those with the lowest accuracy.
BarChart class_chart(const std::vector<ClassScore>& ordered, const std::string& method) {
  const size_t shown = std::min(ordered.size(), kMostBars);
  BarChart chart;
  chart.id = "classes-accuracy";
  chart.title = fmt::format("Accuracy by class, {}", method);
  if (shown < ordered.size()) chart.title += fmt::format(": the lowest {} of {}", shown, ordered.size());
  chart.high = 100.0;
  chart.unit = "%";
  for (size_t i = ordered.size() - shown; i < ordered.size(); ++i) {
    const ClassScore& score = ordered[i];
    chart.bars.push_back({score.title, "", score.accuracy.value, score.accuracy.ci95, method_class(method)});
  }
  return chart;
}

std::string taken_for(const ClassScore& score) {
  if (score.confused_with.empty()) return "–";
  return fmt::format("{} ({:.0f} %, {} episode{})", score.confused_with, score.confused_percent,
                     score.confused_episodes, score.confused_episodes == 1 ? "" : "s");
}

/// Returns the classes of the matrix, ascending: all, or if there are many those with the lowest accuracy.
std::vector<size_t> classes_shown(const std::vector<ClassScore>& classes) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < classes.size(); ++i) shown.push_back(i);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](size_t a, size_t b) { return classes[a].accuracy.value < classes[b].accuracy.value; });
  shown.resize(std::min(shown.size(), kMostRows));
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::vector<std::vector<double>> rows_and_columns(const std::vector<std::vector<double>>& matrix,
                                                  const std::vector<size_t>& places) {
  std::vector<std::vector<double>> part;
  for (const size_t r : places) {
    part.emplace_back();
    for (const size_t c : places) part.back().push_back(matrix[r][c]);
  }
  return part;
}

/// Puts classes that are confused with each other side by side.
HeatMap confusion_of(const ClassesAnalysis& analysis) {
  HeatMap map;
  map.id = "classes-confusion";
  map.title = fmt::format("Confusion matrix, {}, % of the queries of a class", analysis.method);
  map.row_title = "true class";
  map.column_title = "predicted class";
  std::vector<size_t> shown = classes_shown(analysis.classes);
  if (shown.size() < analysis.classes.size())
    map.title +=
        fmt::format(": the {} classes of {} that are right least often", shown.size(), analysis.classes.size());
  const auto order = order_by_likeness(rows_and_columns(analysis.confusion, shown));
  std::vector<size_t> places;
  places.reserve(order.size());
  for (const size_t i : order) places.push_back(shown[i]);
  map.percent = rows_and_columns(analysis.confusion, places);
  for (const size_t k : places) map.labels.push_back(analysis.classes[k].title);
  return map;
}

PictureChart worst_chart(const WorstClass& worst, size_t place, const PictureSource& picture) {
  PictureChart chart;
  chart.id = fmt::format("classes-worst-{}", place);
  chart.title = worst.title;
  std::string line = fmt::format("{:.0f} % right", worst.accuracy);
  if (!worst.confused_with.empty())
    line += fmt::format("; {:.0f} % as {}", worst.confused_percent, worst.confused_with);
  PictureRow row{line, {}};
  for (const auto& [image, predicted] : worst.mistakes)
    row.tiles.push_back({picture(image), predicted == worst.confused_with ? "its own" : "→ " + predicted,
                         fmt::format("{}, a photo of {}, taken for {}", image, worst.title, predicted)});
  for (const std::string& image : worst.confused_images)
    row.tiles.push_back({picture(image), "the other", fmt::format("{}, a photo of {}", image, worst.confused_with)});
  chart.rows = {row};
  return chart;
}

bool has_pictures(const PictureChart& chart) {
  const auto& tiles = chart.rows.front().tiles;
  return std::any_of(tiles.begin(), tiles.end(), [](const PictureTile& tile) { return !tile.picture.empty(); });
}

}  // namespace

Section classes_section(const ClassesAnalysis& analysis, const EpisodeOptions& episodes, const Analysed& analysed,
                        const std::vector<WorstClass>& worst, const PictureSource& picture) {
  Section section{"classes", "Class by class"};
  const std::vector<ClassScore> ordered = by_falling_accuracy(analysis.classes);
  const auto words = [](const ClassScore& score) {
    return fmt::format("{}\u00a0% ({})", percent_cell(score.accuracy), score.title);
  };
  section.finding = fmt::format("Accuracy by class: from {} to {}.", words(ordered.back()), words(ordered.front()));
  section.how = say_analysed(analysis.method, analysed) + say_episodes(episodes) +
                " An entry of the matrix is the percentage of the queries of one class that were taken for another "
                "one, among the episodes that contain both; confused classes are adjacent.";
  for (size_t i = 0; i < worst.size(); ++i) {
    const PictureChart chart = worst_chart(worst[i], i, picture);
    if (has_pictures(chart)) section.figures.emplace_back(chart);
  }
  section.figures.emplace_back(confusion_of(analysis));
  section.figures.emplace_back(class_chart(ordered, analysis.method));
  ReportTable table{"Accuracy, %, and the class it is taken for most often, in % of the queries of episodes with both",
                    {"Class", "Accuracy", "Taken for"}};
  for (const ClassScore& score : ordered)
    table.rows.push_back({score.title, percent_cell(score.accuracy), taken_for(score)});
  section.tables = {table};
  return section;
}

}  // namespace protocom
