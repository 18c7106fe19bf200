#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocom/report/svg.h"

namespace protocom {

/// Draws the `index`th of five shapes, so that series differ by more than their colour.
void draw_mark(Svg& svg, SvgPoint at, double radius, size_t index, std::string_view css_class);

/// An entry of a legend.
struct LegendEntry {
  std::string label;
  std::string css_class;  // a series class
  bool line = true;       // drawn through the mark
  bool mark = true;
};

/// How tall a legend of that width becomes.
double legend_height(const std::vector<LegendEntry>& entries, double width);

/// Draws entries in as many lines as they need, from `corner` on; marks are the shapes of their index.
void draw_legend(Svg& svg, SvgPoint corner, double width, const std::vector<LegendEntry>& entries);

}  // namespace protocom
