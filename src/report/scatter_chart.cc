#include "report/scatter_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/detail/marks.h"

namespace protocom {
namespace {

constexpr double kSide = 320.0;
constexpr double kPlotLeft = 20.0;
constexpr double kPlotTop = 18.0;
constexpr double kHues = 8;

constexpr double kSheetSide = 360.0;  // in the units of its tiles

std::string colour(size_t index) { return fmt::format("hue-{}", index % static_cast<size_t>(kHues) + 1); }

size_t place_in(const ScatterChart& chart, size_t group) {
  const size_t place = chart.groups[group].place;
  return place == kOwnPlace ? group : place;
}

/// Draws the label of a group, alone or below the points' photos.
void draw_spots(Svg& svg, const PointGroup& group, const std::vector<SvgPoint>& points, double height) {
  constexpr double kPhoto = 84.0;
  constexpr double kCaptionFont = 12.0;
  constexpr double kReach = 5.0;
  const bool photos = !group.sheet.empty();
  const size_t sheet = photos ? svg.sheet(group.sheet, kSheetSide) : 0;
  const auto columns = static_cast<size_t>(group.columns);
  const double tile = kSheetSide / static_cast<double>(columns);
  const std::string label = fit_text_to(group.label, kChartWidth - 30.0, kCaptionFont);
  const double width = std::max(photos ? kPhoto : 0.0, text_width(label, kCaptionFont)) + 12.0;
  const double tall = (photos ? kPhoto + 4.0 : 0.0) + 24.0;
  for (size_t k = 0; k < points.size(); ++k) {
    const double left = std::clamp(points[k].x - 0.5 * width, 1.0, kChartWidth - width - 1.0);
    const double top = points[k].y + 10.0 + tall < height ? points[k].y + 10.0 : points[k].y - 10.0 - tall;
    svg.begin_spot(points[k], kReach);
    svg.rect({{left, top}, width, tall}, "peek-box");
    if (photos) {
      const size_t row = k / columns;
      const SvgPoint source{tile * static_cast<double>(k % columns), tile * static_cast<double>(row)};
      svg.tile({left + 0.5 * (width - kPhoto), top + 6.0}, kPhoto, sheet, source, tile);
    }
    svg.text({left + 0.5 * width, top + tall - 8.0}, label, Anchor::kMiddle, "legend");
    svg.end_spot();
  }
}

}  // namespace

void to_json(nlohmann::json& out, const PointGroup& group) {
  out = {{"label", group.label}, {"x", group.x},         {"y", group.y},
         {"place", group.place}, {"sheet", group.sheet}, {"columns", group.columns}};
}

void from_json(const nlohmann::json& object, PointGroup& group) {
  object.at("label").get_to(group.label);
  object.at("x").get_to(group.x);
  object.at("y").get_to(group.y);
  group.place = object.value("place", kOwnPlace);
  group.sheet = object.at("sheet").get<std::string>();
  group.columns = object.at("columns").get<int64_t>();
}

Svg draw(const ScatterChart& chart) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < chart.groups.size(); ++i) {
    const std::string label = fit_text_to(chart.groups[i].label, 140.0, 12.0);
    const size_t place = place_in(chart, i);
    legend.push_back({label, colour(place), false, true, place});
  }
  const double bottom = kPlotTop + kSide;
  Svg svg(kChartWidth, bottom + 28.0 + legend_height(legend, kChartWidth - 8.0),
          {chart.id, chart.title, chart.description.empty() ? describe(chart) : chart.description});
  svg.line({kPlotLeft, bottom}, {kPlotLeft + kSide, bottom}, "axis");
  svg.line({kPlotLeft, kPlotTop}, {kPlotLeft, bottom}, "axis");
  svg.text({kPlotLeft + kSide, bottom + 15.0}, chart.x_label, Anchor::kEnd, "note");
  svg.text({kPlotLeft - 2.0, kPlotTop - 7.0}, chart.y_label, Anchor::kStart, "note");
  constexpr double kMargin = 6.0;
  const LinearScale x{chart.low_x, chart.high_x, kPlotLeft + kMargin, kPlotLeft + kSide - kMargin};
  const LinearScale y{chart.low_y, chart.high_y, bottom - kMargin, kPlotTop + kMargin};
  std::vector<std::vector<SvgPoint>> points(chart.groups.size());
  for (size_t i = 0; i < chart.groups.size(); ++i) {
    const PointGroup& group = chart.groups[i];
    const size_t place = place_in(chart, i);
    svg.begin_group(group.label);
    for (size_t k = 0; k < group.x.size(); ++k) {
      points[i].push_back({x(group.x[k]), y(group.y[k])});
      draw_mark(svg, points[i].back(), 3.0, place, "dot " + colour(place));
    }
    svg.end_group();
  }
  draw_legend(svg, {4.0, bottom + 24.0}, kChartWidth - 8.0, legend);
  for (size_t i = 0; i < chart.groups.size(); ++i) draw_spots(svg, chart.groups[i], points[i], svg.height());
  return svg;
}

std::string describe(const ScatterChart& chart) {
  std::string text = "Points in the plane, one per image. ";
  for (const PointGroup& group : chart.groups) text += fmt::format("{}: {} points. ", group.label, group.x.size());
  text.pop_back();
  return text;
}

}  // namespace protocom
