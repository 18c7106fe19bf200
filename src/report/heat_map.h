#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// A table of shares drawn as shades; rows and columns are the same things.
struct HeatMap {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::string row_title;    ///< what rows are: "true class"
  std::string column_title;
  std::vector<std::string> labels;
  std::vector<std::vector<double>> percent;  ///< [r][c], 0..100; negative: no value
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeatMap, id, title, description, row_title, column_title, labels, percent)

/// The chart, at least 760 pixels wide and as wide as its names and a cell of 17 pixels for each column need: it is to
/// be scrolled, not made smaller. What is right and what is not have scales of their own.
Svg draw(const HeatMap& chart);

/// The diagonal's range and the largest entries beside it, in words.
std::string describe(const HeatMap& chart);

}  // namespace protocom
