#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "protocom/report/svg.h"

namespace protocom {

/// Points of one colour and shape.
struct PointGroup {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PointGroup, label, x, y)

/// A map of points in groups. Charts with the same range can be compared.
struct ScatterChart {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::string x_label;
  std::string y_label;
  std::vector<PointGroup> groups;
  double low_x = 0.0, high_x = 1.0;
  double low_y = 0.0, high_y = 1.0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScatterChart, id, title, description, x_label, y_label, groups, low_x, high_x, low_y,
                                   high_y)

/// The chart, 360 pixels wide at full size.
Svg draw(const ScatterChart& chart);

/// The groups and how many points each has, in words.
std::string describe(const ScatterChart& chart);

}  // namespace protocom
