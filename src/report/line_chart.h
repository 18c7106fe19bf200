#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/bar_chart.h"

namespace protocom {

/// One curve. Up to 16 points get marks; `interval`, if given, a band.
struct LineSeries {
  std::string label;
  std::string css_class;  ///< colour: see method_class
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> interval;  ///< half-widths, or empty
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineSeries, label, css_class, x, y, interval)

/// Curves over a common axis.
struct LineChart {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::string x_label;
  std::string y_label;  ///< with its unit: "accuracy, %"
  std::vector<LineSeries> series;
  double low = 0.0;  ///< of the vertical axis; chosen from the data if `low` equals `high`
  double high = 0.0;
  int decimals = 1;                     ///< of values in the description and under the pointer
  std::vector<ReferenceLine> vertical;  ///< dashed lines at values of x
  std::string diagonal;                 ///< label of a dashed line y = x; empty: none
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineChart, id, title, description, x_label, y_label, series, low, high, decimals,
                                   vertical, diagonal)

/// Draws the chart, 360 pixels wide at full size.
Svg draw(const LineChart& chart);

/// Describes the first and last value of each curve, and its extremes.
std::string describe(const LineChart& chart);

}  // namespace protocom
