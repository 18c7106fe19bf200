#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// How wide a chart is that shares its row with another.
constexpr double kChartWidth = 360.0;

/// Draws the `index`th of nine shapes, so that series differ by more than their colour.
void draw_mark(Svg& svg, SvgPoint at, double radius, size_t index, std::string_view css_class);

/// The shape of a series: the same for a method in every figure, whatever else is drawn; `index` for other series.
size_t mark_of(std::string_view series_class, size_t index);

/// How its curve is broken, the same everywhere too: " dash-2", or "" if it is whole.
std::string dash_of(std::string_view series_class);

/// An entry of a legend.
struct LegendEntry {
  std::string label;
  std::string css_class;  // a series class
  bool line = true;       // drawn through the mark
  bool mark = true;
  std::optional<size_t> place = {};  // the mark's shape; otherwise that of mark_of
};

/// How tall a legend of that width becomes.
double legend_height(const std::vector<LegendEntry>& entries, double width);

/// Draws entries in as many lines as they need, from `corner` on; marks are the shapes of mark_of.
void draw_legend(Svg& svg, SvgPoint corner, double width, const std::vector<LegendEntry>& entries);

}  // namespace protocom
