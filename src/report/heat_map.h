#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// A table of shares drawn as shades; rows and columns have the same labels.
struct HeatMap {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::string row_title;    ///< what the rows are: "true class"
  std::string column_title;
  std::vector<std::string> labels;
  std::vector<std::vector<double>> percent;  ///< [r][c], 0..100; negative: no value
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeatMap, id, title, description, row_title, column_title, labels, percent)

/// Draws the chart, at least 760 pixels wide and as wide as its names and a cell of 17 pixels per column require: it is
/// meant to be scrolled, not shrunk. Right and wrong answers have separate scales.
Svg draw(const HeatMap& chart);

/// Describes the range of the diagonal and the largest entries off it.
std::string describe(const HeatMap& chart);

}  // namespace protocom
