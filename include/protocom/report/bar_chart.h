#pragma once
#include <optional>
#include <string>
#include <vector>

namespace protocom {

/// One bar: a value with its uncertainty.
struct Bar {
  std::string label;
  std::string note;  ///< small, under the label
  double value = 0.0;
  double interval = 0.0;  ///< half-width of the error bar; 0 draws none
  std::string css_class;  ///< "inductive", "transductive": see the style sheet
};

/// A value that bars are to be compared with.
struct ReferenceLine {
  double value = 0.0;
  std::string label;
};

/// A chart of horizontal bars, one below the other.
struct BarChart {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::vector<Bar> bars;
  double low = 0.0;
  double high = 1.0;  ///< the axis' end
  int decimals = 1;   ///< of the printed values
  std::string unit;   ///< after the axis' last tick: "%"
  std::optional<ReferenceLine> reference;
};

/// The chart as an SVG element, 360 pixels wide at full size: on a phone charts stand below one another, on a desk side
/// by side.
std::string draw_bar_chart(const BarChart& chart);

}  // namespace protocom
