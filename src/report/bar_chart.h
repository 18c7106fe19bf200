#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// One bar: a value with its uncertainty.
struct Bar {
  std::string label;
  std::string note;  ///< small, under the label
  double value = 0.0;
  double interval = 0.0;  ///< half-width of the error bar; 0 draws none
  std::string css_class;  ///< colour: see method_class
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bar, label, note, value, interval, css_class)

/// A reference line across the values.
struct ReferenceLine {
  double value = 0.0;
  std::string label;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReferenceLine, value, label)

/// A chart of horizontal bars, one below the other.
struct BarChart {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::vector<Bar> bars;
  double low = 0.0;   ///< start of the axis; bars begin at 0, or at `low` if it is above 0
  double high = 1.0;  ///< end of the axis
  int decimals = 1;   ///< of the printed values
  std::string unit;   ///< after the axis' last tick: "%"
  std::vector<ReferenceLine> references;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BarChart, id, title, description, bars, low, high, decimals, unit, references)

/// Draws the chart, 360 pixels wide at full size: charts are stacked on a phone, and side by side on a desktop.
Svg draw(const BarChart& chart);

/// Describes the bars in words.
std::string describe(const BarChart& chart);

}  // namespace protocom
