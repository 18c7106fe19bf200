#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// Marks a group without a place of its own, which takes its index in the chart.
inline constexpr size_t kOwnPlace = static_cast<size_t>(-1);

/// Points of one colour and shape.
struct PointGroup {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;
  size_t place = kOwnPlace;  ///< index of its colour and shape; groups with equal ones look alike, in every chart
  std::string sheet = {};    ///< the points' photos: a square JPEG in base64 with one tile each, row by row; "": none
  int64_t columns = 1;       ///< of tiles on the sheet, as many as it has rows
};
/// Like those of the other charts' parts; a missing place means the group's own.
void to_json(nlohmann::json& out, const PointGroup& group);
void from_json(const nlohmann::json& object, PointGroup& group);

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

/// Draws the chart, 360 pixels wide at full size. Under the pointer a point shows its group's label, and its photo if
/// there is one.
Svg draw(const ScatterChart& chart);

/// Describes the groups and their numbers of points.
std::string describe(const ScatterChart& chart);

}  // namespace protocom
