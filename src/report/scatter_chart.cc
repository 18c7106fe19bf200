#include "protocom/report/scatter_chart.h"

#include <fmt/format.h>

#include "report/marks.h"

namespace protocom {
namespace {

constexpr double kSide = 320.0;
constexpr double kPlotLeft = 20.0;
constexpr double kPlotTop = 18.0;
constexpr double kHues = 8;

std::string colour(size_t index) { return fmt::format("hue-{}", index % static_cast<size_t>(kHues) + 1); }

}  // namespace

Svg draw(const ScatterChart& chart) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < chart.groups.size(); ++i) {
    const std::string label = fit_text_to(chart.groups[i].label, 140.0, 12.0);
    legend.push_back({label, colour(i), false, true});
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
  for (size_t i = 0; i < chart.groups.size(); ++i) {
    const PointGroup& group = chart.groups[i];
    svg.begin_group(group.label);
    for (size_t k = 0; k < group.x.size(); ++k)
      draw_mark(svg, {x(group.x[k]), y(group.y[k])}, 2.8, i, "dot " + colour(i));
    svg.end_group();
  }
  draw_legend(svg, {4.0, bottom + 24.0}, kChartWidth - 8.0, legend);
  return svg;
}

std::string describe(const ScatterChart& chart) {
  std::string text = "Points in the plane, one per image. ";
  for (const PointGroup& group : chart.groups) text += fmt::format("{}: {} points. ", group.label, group.x.size());
  text.pop_back();
  return text;
}

}  // namespace protocom
