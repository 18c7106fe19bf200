#include "protocom/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocom/report/svg.h"

namespace protocom {
namespace {

constexpr double kWidth = 360.0;
constexpr double kLabelWidth = 116.0;
constexpr double kValueWidth = 66.0;
constexpr double kTop = 22.0;
constexpr double kRow = 42.0;
constexpr double kBarHeight = 20.0;
constexpr double kAxis = 26.0;
constexpr double kCap = 4.0;

void draw_axis(Svg& svg, const BarChart& chart, const LinearScale& x, double bottom) {
  const std::vector<double> ticks = x.ticks(4);
  const int decimals = chart.high <= 1.0 ? 1 : 0;
  for (const double value : ticks) {
    svg.line({x(value), kTop}, {x(value), bottom}, value == 0.0 ? "axis" : "grid");
    const std::string unit = value == ticks.back() ? chart.unit : "";
    svg.text({x(value), bottom + 16}, fmt::format("{:.{}f}{}", value, decimals, unit), Anchor::kMiddle, "tick");
  }
}

void draw_reference(Svg& svg, const ReferenceLine& reference, const LinearScale& x, double bottom) {
  const double at = x(reference.value);
  svg.line({at, kTop - 4}, {at, bottom}, "reference");
  svg.text({at, kTop - 8}, reference.label, Anchor::kMiddle, "tick");
}

void draw_error_bar(Svg& svg, const Bar& bar, const LinearScale& x, double y) {
  const double low = x(std::max(bar.value - bar.interval, x.low));
  const double high = x(bar.value + bar.interval);
  svg.line({low, y}, {high, y}, "error");
  for (const double end : {low, high}) svg.line({end, y - kCap}, {end, y + kCap}, "error");
}

void draw_bar(Svg& svg, const BarChart& chart, const Bar& bar, const LinearScale& x, double y) {
  const std::string value = fmt::format("{:.{}f}", bar.value, chart.decimals);
  const std::string interval = bar.interval > 0.0 ? fmt::format("±{:.{}f}", bar.interval, chart.decimals) : "";
  svg.begin_group(fmt::format("{} ({}): {} {}", bar.label, bar.note, value, interval));
  svg.text({kLabelWidth - 10, y - 1}, bar.label, Anchor::kEnd, "label");
  svg.text({kLabelWidth - 10, y + 12}, bar.note, Anchor::kEnd, "note");
  svg.rect({x(x.low), y - kBarHeight / 2}, std::max(0.0, x(bar.value) - x(x.low)), kBarHeight, "bar " + bar.css_class);
  if (bar.interval > 0.0) draw_error_bar(svg, bar, x, y);
  svg.text({kWidth - kValueWidth + 12, y + 1}, value, Anchor::kStart, "value");
  svg.text({kWidth - kValueWidth + 12, y + 13}, interval, Anchor::kStart, "note");
  svg.end_group();
}

}  // namespace

std::string draw_bar_chart(const BarChart& chart) {
  const double bottom = kTop + kRow * static_cast<double>(chart.bars.size());
  Svg svg(kWidth, bottom + kAxis, chart.id, chart.title, chart.description);
  const LinearScale x{chart.low, chart.high, kLabelWidth, kWidth - kValueWidth};
  draw_axis(svg, chart, x, bottom);
  if (chart.reference) draw_reference(svg, *chart.reference, x, bottom);
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    draw_bar(svg, chart, chart.bars[i], x, kTop + kRow * (static_cast<double>(i) + 0.5));
  }
  return svg.str();
}

}  // namespace protocom
