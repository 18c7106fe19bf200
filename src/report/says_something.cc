#include "report/says_something.h"

#include <algorithm>
#include <cmath>

namespace protocom {
namespace {

bool tells(const BarChart& chart) { return chart.bars.size() > 1; }

bool tells(const LineChart& chart) {
  const double least = 0.5 * std::pow(10.0, -chart.decimals);  // what is not printed as zero
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const LineSeries& series) {
    return series.y.size() > 1 &&
           std::any_of(series.y.begin(), series.y.end(), [&](double y) { return std::abs(y) >= least; });
  });
}

bool tells(const ScatterChart& chart) { return !chart.groups.empty(); }
bool tells(const HeatMap& chart) { return chart.labels.size() > 1; }
bool tells(const PictureChart& chart) { return !chart.rows.empty(); }

/// Tables and figures set prototypes of several methods beside one another.
bool compares_prototypes(const Section& section) { return section.name == "cosine" || section.name == "single-images"; }

}  // namespace

bool says_something(const Figure& figure) {
  return std::visit([](const auto& chart) { return tells(chart); }, figure);
}

bool says_something(const Section& section) {
  const bool rows = std::any_of(section.tables.begin(), section.tables.end(),
                                [](const ReportTable& table) { return table.rows.size() > 1; });
  if (rows || compares_prototypes(section)) return rows;
  // What has neither says it in its line; what has them shall show something.
  if (section.tables.empty() && section.figures.empty()) return true;
  return std::any_of(section.figures.begin(), section.figures.end(),
                     [](const Figure& figure) { return says_something(figure); }) ||
         std::any_of(section.tables.begin(), section.tables.end(),
                     [](const ReportTable& table) { return !table.rows.empty() && table.columns.size() > 2; });
}

Section with_telling_figures(Section section) {
  const auto silent = [](const Figure& figure) { return !says_something(figure); };
  section.figures.erase(std::remove_if(section.figures.begin(), section.figures.end(), silent), section.figures.end());
  return section;
}

}  // namespace protocom
