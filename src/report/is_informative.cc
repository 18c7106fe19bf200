#include "report/is_informative.h"

#include <algorithm>
#include <cmath>

namespace protocom {
namespace {

bool informs(const BarChart& chart) { return chart.bars.size() > 1; }

bool informs(const LineChart& chart) {
  const double least = 0.5 * std::pow(10.0, -chart.decimals);  // smaller values are printed as zero
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const LineSeries& series) {
    return series.y.size() > 1 &&
           std::any_of(series.y.begin(), series.y.end(), [&](double y) { return std::abs(y) >= least; });
  });
}

bool informs(const ScatterChart& chart) { return !chart.groups.empty(); }
bool informs(const HeatMap& chart) { return chart.labels.size() > 1; }
bool informs(const PictureChart& chart) { return !chart.rows.empty(); }

/// Whether tables and figures compare prototypes of several methods.
bool compares_prototypes(const Section& section) { return section.name == "cosine" || section.name == "single-images"; }

}  // namespace

bool is_informative(const Figure& figure) {
  return std::visit([](const auto& chart) { return informs(chart); }, figure);
}

bool is_informative(const Section& section) {
  const bool rows = std::any_of(section.tables.begin(), section.tables.end(),
                                [](const ReportTable& table) { return table.rows.size() > 1; });
  if (rows || compares_prototypes(section)) return rows;
  // A section with neither states its finding in its line; one with some must show something.
  if (section.tables.empty() && section.figures.empty()) return true;
  return std::any_of(section.figures.begin(), section.figures.end(),
                     [](const Figure& figure) { return is_informative(figure); }) ||
         std::any_of(section.tables.begin(), section.tables.end(),
                     [](const ReportTable& table) { return !table.rows.empty() && table.columns.size() > 2; });
}

Section with_informative_figures(Section section) {
  const auto is_empty = [](const Figure& figure) { return !is_informative(figure); };
  section.figures.erase(std::remove_if(section.figures.begin(), section.figures.end(), is_empty),
                        section.figures.end());
  return section;
}

}  // namespace protocom
