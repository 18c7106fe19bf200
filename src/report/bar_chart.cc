#include "report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/detail/marks.h"

namespace protocom {
namespace {

constexpr double kLeastLabelWidth = 60.0;
constexpr double kMostLabelWidth = 172.0;
constexpr double kValueWidth = 66.0;
constexpr double kTop = 22.0;
constexpr double kRow = 42.0;
constexpr double kLowRow = 26.0;  // without notes
constexpr double kBarHeight = 20.0;
constexpr double kLowBarHeight = 14.0;
constexpr double kAxis = 26.0;
constexpr double kCap = 4.0;
constexpr double kLabelFont = 13.0;
constexpr double kBoldness = 1.2;

/// Positions in the chart.
struct Layout {
  bool notes = false;
  double label_width = 0.0;
  double row = 0.0;
  double bar_height = 0.0;
  double bottom = 0.0;
  LinearScale x;
};

Layout lay_out(const BarChart& chart) {
  Layout layout;
  double widest = kLeastLabelWidth;
  for (const Bar& bar : chart.bars) {
    layout.notes = layout.notes || !bar.note.empty();
    widest = std::max({widest, kBoldness * text_width(bar.label, kLabelFont) + 12.0, text_width(bar.note, 11) + 12.0});
  }
  layout.label_width = std::ceil(std::min(widest, kMostLabelWidth));
  layout.row = layout.notes ? kRow : kLowRow;
  layout.bar_height = layout.notes ? kBarHeight : kLowBarHeight;
  layout.bottom = kTop + layout.row * static_cast<double>(chart.bars.size());
  layout.x = {chart.low, chart.high, layout.label_width, kChartWidth - kValueWidth};
  return layout;
}

void draw_axis(Svg& svg, const BarChart& chart, const Layout& at) {
  const std::vector<double> ticks = at.x.ticks(4);
  const int decimals = decimals_for(ticks);
  for (const double value : ticks) {
    svg.line({at.x(value), kTop}, {at.x(value), at.bottom}, value == 0.0 ? "axis" : "grid");
    const std::string unit = value == ticks.back() ? chart.unit : "";
    svg.text({at.x(value), at.bottom + 16}, format_number(value, decimals) + unit, Anchor::kMiddle, "tick");
  }
}

void draw_reference(Svg& svg, const ReferenceLine& reference, const Layout& at) {
  const double x = at.x(reference.value);
  svg.line({x, kTop - 4}, {x, at.bottom}, "reference");
  svg.text({x, kTop - 8}, reference.label, Anchor::kMiddle, "tick");
}

void draw_error_bar(Svg& svg, const Bar& bar, const LinearScale& x, double y) {
  const double low = x(std::max(bar.value - bar.interval, x.low));
  const double high = x(std::min(bar.value + bar.interval, x.high));
  svg.line({low, y}, {high, y}, "error");
  for (const double end : {low, high}) svg.line({end, y - kCap}, {end, y + kCap}, "error");
}

void draw_bar(Svg& svg, const BarChart& chart, const Bar& bar, const Layout& at, double y) {
  const std::string value = format_number(bar.value, chart.decimals);
  const std::string interval = bar.interval > 0.0 ? fmt::format("±{:.{}f}", bar.interval, chart.decimals) : "";
  svg.begin_group(
      fmt::format("{}{}: {} {}", bar.label, bar.note.empty() ? "" : " (" + bar.note + ")", value, interval));
  svg.text({at.label_width - 10, at.notes ? y - 1 : y + 4},
           fit_text_to(bar.label, at.label_width - 12, kBoldness * kLabelFont), Anchor::kEnd, "label");
  if (at.notes)
    svg.text({at.label_width - 10, y + 12}, fit_text_to(bar.note, at.label_width - 12, 11), Anchor::kEnd, "note");
  const double zero = at.x(std::clamp(0.0, chart.low, chart.high));
  const double end = at.x(std::clamp(bar.value, chart.low, chart.high));
  svg.rect({{std::min(zero, end), y - at.bar_height / 2}, std::abs(end - zero), at.bar_height}, "bar " + bar.css_class);
  if (bar.interval > 0.0) draw_error_bar(svg, bar, at.x, y);
  const bool below = at.notes && !interval.empty();
  svg.text({kChartWidth - kValueWidth + 12, below ? y + 1 : y + 4}, value, Anchor::kStart, "value");
  if (below) svg.text({kChartWidth - kValueWidth + 12, y + 13}, interval, Anchor::kStart, "note");
  svg.end_group();
}

}  // namespace

Svg draw(const BarChart& chart) {
  const Layout at = lay_out(chart);
  Svg svg(kChartWidth, at.bottom + kAxis,
          {chart.id, chart.title, chart.description.empty() ? describe(chart) : chart.description});
  draw_axis(svg, chart, at);
  for (const ReferenceLine& reference : chart.references) draw_reference(svg, reference, at);
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    draw_bar(svg, chart, chart.bars[i], at, kTop + at.row * (static_cast<double>(i) + 0.5));
  }
  return svg;
}

std::string describe(const BarChart& chart) {
  std::string text = "Horizontal bars. ";
  for (const Bar& bar : chart.bars) {
    text += bar.label + (bar.note.empty() ? "" : ", " + bar.note);
    text += fmt::format(": {}{}", format_number(bar.value, chart.decimals), chart.unit);
    if (bar.interval > 0.0) text += fmt::format(" plus or minus {:.{}f}", bar.interval, chart.decimals);
    text += ". ";
  }
  for (const ReferenceLine& line : chart.references)
    text += fmt::format("Dashed line, {}: {}{}. ", line.label, format_number(line.value, chart.decimals), chart.unit);
  text.pop_back();
  return text;
}

}  // namespace protocom
