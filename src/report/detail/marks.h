#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// Width of a chart that shares its row with another.
constexpr double kChartWidth = 360.0;

/// Draws the `index`th of nine shapes, so that series differ by more than their colour.
void draw_mark(Svg& svg, SvgPoint at, double radius, size_t index, std::string_view css_class);

/// Returns the shape of a series: the same for a method in every figure, whatever else is drawn; `index` for other
/// series.
size_t mark_of(std::string_view series_class, size_t index);

/// Returns the dash class of its curve, also the same everywhere: " dash-2", or "" for a solid line.
std::string dash_of(std::string_view series_class);

/// An entry of a legend.
struct LegendEntry {
  std::string label;
  std::string css_class;  // a series class
  bool line = true;       // whether a line is drawn through the mark
  bool mark = true;
  std::optional<size_t> place = {};  // the mark's shape; if empty, that of mark_of
};

/// Returns the height of a legend of that width.
double legend_height(const std::vector<LegendEntry>& entries, double width);

/// Draws entries in as many lines as they need, starting at `corner`; marks are the shapes of mark_of.
void draw_legend(Svg& svg, SvgPoint corner, double width, const std::vector<LegendEntry>& entries);

}  // namespace protocom
