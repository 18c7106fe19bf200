#include "report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "report/detail/marks.h"

namespace protocom {
namespace {

constexpr double kPlotHeight = 190.0;
constexpr double kLeft = 42.0;
constexpr double kRight = 14.0;
constexpr double kYTitle = 18.0;
constexpr double kBelow = 42.0;  // ticks and the title of the axis
constexpr size_t kMarkedPoints = 16;
constexpr double kTickSpace = 24.0;

struct LineLayout {
  std::vector<LegendEntry> legend;
  double top = 0.0;
  double bottom = 0.0;
  LinearScale x;
  LinearScale y;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen_if_empty() {
    if (!(high > low)) {
      low = std::isfinite(low) ? low - 0.5 : 0.0;
      high = std::isfinite(high) ? high + 0.5 : 1.0;
    }
  }
};

double half_width(const LineSeries& series, size_t i) { return series.interval.empty() ? 0.0 : series.interval[i]; }

bool has_marks(const LineSeries& series) { return series.x.size() <= kMarkedPoints; }

Range x_range(const LineChart& chart) {
  Range range;
  for (const LineSeries& series : chart.series) {
    for (const double x : series.x) range.take(x);
  }
  range.widen_if_empty();
  return range;
}

Range y_range(const LineChart& chart) {
  Range range;
  if (chart.low != chart.high) return {chart.low, chart.high};
  for (const LineSeries& series : chart.series) {
    for (size_t i = 0; i < series.y.size(); ++i) {
      range.take(series.y[i] - half_width(series, i));
      range.take(series.y[i] + half_width(series, i));
    }
  }
  range.widen_if_empty();
  const double space = 0.06 * (range.high - range.low);
  return {range.low - space, range.high + space};
}

LineLayout lay_out(const LineChart& chart) {
  LineLayout at;
  // One curve needs no legend: the title names it.
  for (const LineSeries& series : chart.series) {
    if (chart.series.size() > 1) at.legend.push_back({series.label, series.css_class, true, has_marks(series)});
  }
  if (!chart.diagonal.empty()) at.legend.push_back({chart.diagonal, "reference", true, false});
  at.top = legend_height(at.legend, kChartWidth - 8.0) + 8.0 + kYTitle;
  at.bottom = at.top + kPlotHeight;
  const Range x = x_range(chart);
  const Range y = y_range(chart);
  at.x = {x.low, x.high, kLeft + 8.0, kChartWidth - kRight - 4.0};
  at.y = {y.low, y.high, at.bottom, at.top};
  return at;
}

/// Returns the values themselves if they are few; else round ones.
std::vector<double> x_ticks(const LineChart& chart, const LinearScale& scale) {
  std::set<double> places;
  for (const LineSeries& series : chart.series) places.insert(series.x.begin(), series.x.end());
  if (places.size() > kMarkedPoints) return scale.ticks(5);
  std::vector<double> kept;
  for (const double place : places) {
    if (kept.empty() || scale(place) - scale(kept.back()) >= kTickSpace) kept.push_back(place);
  }
  // The last one is the end of the axis.
  if (!kept.empty() && kept.back() != *places.rbegin()) kept.back() = *places.rbegin();
  return kept;
}

void draw_axes(Svg& svg, const LineChart& chart, const LineLayout& at) {
  const std::vector<double> rows = at.y.ticks(5);
  for (const double value : rows) {
    svg.line({kLeft, at.y(value)}, {kChartWidth - kRight, at.y(value)}, value == 0.0 ? "axis" : "grid");
    svg.text({kLeft - 6.0, at.y(value) + 4.0}, format_number(value, decimals_for(rows)), Anchor::kEnd, "tick");
  }
  svg.line({kLeft, at.bottom}, {kChartWidth - kRight, at.bottom}, "axis");
  const std::vector<double> columns = x_ticks(chart, at.x);
  for (const double value : columns) {
    svg.line({at.x(value), at.bottom}, {at.x(value), at.bottom + 4.0}, "axis");
    svg.text({at.x(value), at.bottom + 17.0}, format_number(value, decimals_for(columns)), Anchor::kMiddle, "tick");
  }
  svg.text({0.5 * (kLeft + kChartWidth - kRight), at.bottom + 35.0}, chart.x_label, Anchor::kMiddle, "note");
  svg.text({2.0, at.top - 10.0}, chart.y_label, Anchor::kStart, "note");
}

void draw_references(Svg& svg, const LineChart& chart, const LineLayout& at) {
  for (const ReferenceLine& line : chart.vertical) {
    const double x = at.x(line.value);
    svg.line({x, at.top - 2.0}, {x, at.bottom}, "reference");
    const bool right = x > 0.6 * kChartWidth;
    svg.text({right ? x - 5.0 : x + 5.0, at.bottom - 8.0}, line.label, right ? Anchor::kEnd : Anchor::kStart, "tick");
  }
  if (chart.diagonal.empty()) return;
  const double from = std::max(at.x.low, at.y.low);
  const double to = std::min(at.x.high, at.y.high);
  if (to > from) svg.line({at.x(from), at.y(from)}, {at.x(to), at.y(to)}, "reference");
}

void draw_band(Svg& svg, const LineSeries& series, const LineLayout& at) {
  if (series.interval.empty() || series.x.size() < 2) return;
  std::vector<SvgPoint> outline;
  for (size_t i = 0; i < series.x.size(); ++i)
    outline.push_back({at.x(series.x[i]), at.y(series.y[i] + series.interval[i])});
  for (size_t i = series.x.size(); i-- > 0;)
    outline.push_back({at.x(series.x[i]), at.y(series.y[i] - series.interval[i])});
  svg.polygon(outline, "band " + series.css_class);
}

void draw_curve(Svg& svg, const LineChart& chart, size_t index, const LineLayout& at) {
  const LineSeries& series = chart.series[index];
  std::vector<SvgPoint> points;
  for (size_t i = 0; i < series.x.size(); ++i) points.push_back({at.x(series.x[i]), at.y(series.y[i])});
  svg.polyline(points, "curve " + series.css_class + dash_of(series.css_class));
  if (!has_marks(series)) return;
  for (const SvgPoint& point : points)
    draw_mark(svg, point, 4.0, mark_of(series.css_class, index), "mark " + series.css_class);
}

/// Draws the value of a point and its interval, which show under the pointer.
void draw_spot(Svg& svg, const LineChart& chart, const LineSeries& series, size_t i, const LineLayout& at) {
  constexpr double kFont = 12.0;
  constexpr double kHeight = 40.0;
  constexpr double kReach = 8.0;
  const SvgPoint point{at.x(series.x[i]), at.y(series.y[i])};
  const std::string value = format_number(series.y[i], chart.decimals);
  const double half = half_width(series, i);
  const std::string interval = half > 0.0 ? fmt::format(" ± {:.{}f}  ({} to {})", half, chart.decimals,
                                                        format_number(series.y[i] - half, chart.decimals),
                                                        format_number(series.y[i] + half, chart.decimals))
                                          : "";
  const std::string name = fit_text_to(series.label, kChartWidth - 80.0, kFont);
  const std::string what =
      fmt::format("{}: {}{}", format_number(series.x[i], std::min(2, decimals_for({series.x[i]}))), value, interval);
  const double width = 16.0 + std::max(text_width(name, kFont), text_width(what, kFont));
  const double left = std::clamp(point.x - 0.5 * width, 1.0, std::max(1.0, kChartWidth - width - 1.0));
  const double above = point.y - kHeight - 10.0;
  const double top = above >= 1.0 ? above : point.y + 10.0;
  svg.begin_spot(point, kReach);
  svg.rect({{left, top}, width, kHeight}, "peek-box");
  svg.text({left + 8.0, top + 16.0}, name, Anchor::kStart, "legend");
  svg.text({left + 8.0, top + 32.0}, what, Anchor::kStart, "legend");
  svg.end_spot();
}

}  // namespace

Svg draw(const LineChart& chart) {
  const LineLayout at = lay_out(chart);
  Svg svg(kChartWidth, at.bottom + kBelow,
          {chart.id, chart.title, chart.description.empty() ? describe(chart) : chart.description});
  draw_legend(svg, {4.0, 2.0}, kChartWidth - 8.0, at.legend);
  draw_axes(svg, chart, at);
  for (const LineSeries& series : chart.series) draw_band(svg, series, at);
  draw_references(svg, chart, at);
  for (size_t i = 0; i < chart.series.size(); ++i) draw_curve(svg, chart, i, at);
  for (const LineSeries& series : chart.series) {
    for (size_t i = 0; has_marks(series) && i < series.x.size(); ++i) draw_spot(svg, chart, series, i, at);
  }
  return svg;
}

std::string describe(const LineChart& chart) {
  std::string text = fmt::format("Curves of {} against {}. ", chart.y_label, chart.x_label);
  for (const LineSeries& series : chart.series) {
    if (series.y.empty()) continue;
    const auto number = [&](double value) { return format_number(value, chart.decimals); };
    const int places = decimals_for({series.x.front(), series.x.back()});
    text +=
        fmt::format("{}: {} at {}, {} at {}, between {} and {}. ", series.label, number(series.y.front()),
                    format_number(series.x.front(), places), number(series.y.back()),
                    format_number(series.x.back(), places), number(*std::min_element(series.y.begin(), series.y.end())),
                    number(*std::max_element(series.y.begin(), series.y.end())));
  }
  for (const ReferenceLine& line : chart.vertical)
    text += fmt::format("Dashed line at {:.1f}: {}. ", line.value, line.label);
  text.pop_back();
  return text;
}

}  // namespace protocom
