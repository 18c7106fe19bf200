#include "protocom/report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace protocom {
namespace {

constexpr double kMapWidth = 560.0;
constexpr double kLabelWidth = 160.0;
constexpr double kMapTop = 40.0;
constexpr double kMostCell = 40.0;
constexpr double kPrinted = 4.5;    // percent from which a cell shows its number
constexpr double kTextSwitch = 55;  // percent from which the shade is dark enough for light text

void draw_cell(Svg& svg, const HeatMap& chart, size_t r, size_t c, double cell) {
  const double value = chart.percent[r][c];
  const SvgPoint corner{kLabelWidth + cell * static_cast<double>(c), kMapTop + cell * static_cast<double>(r)};
  if (value < 0.0) return svg.rect({{corner.x + 0.5, corner.y + 0.5}, cell - 1.0, cell - 1.0}, "empty");
  svg.begin_group(fmt::format("{}, {}: {:.1f} % of the queries of {}", chart.column_title, chart.labels[c], value,
                              chart.labels[r]));
  svg.rect({{corner.x + 0.5, corner.y + 0.5}, cell - 1.0, cell - 1.0}, "empty");
  svg.rect({{corner.x + 0.5, corner.y + 0.5}, cell - 1.0, cell - 1.0}, "cell m-completed", std::min(1.0, value / 80.0));
  if (cell >= 16.0 && value >= kPrinted) {
    svg.text({corner.x + 0.5 * cell, corner.y + 0.5 * cell + 3.5}, fmt::format("{:.0f}", value), Anchor::kMiddle,
             value >= kTextSwitch ? "cell-text-on" : "cell-text");
  }
  svg.end_group();
}

}  // namespace

Svg draw(const HeatMap& chart) {
  const auto n = static_cast<double>(chart.labels.size());
  const double cell = std::min(kMostCell, (kMapWidth - kLabelWidth - 6.0) / std::max(n, 1.0));
  Svg svg(kMapWidth, kMapTop + cell * n + 8.0,
          {chart.id, chart.title, chart.description.empty() ? describe(chart) : chart.description});
  svg.text({kLabelWidth - 8.0, kMapTop - 8.0}, chart.row_title + " ↓", Anchor::kEnd, "note");
  svg.text({kLabelWidth, 12.0}, chart.column_title + " →", Anchor::kStart, "note");
  const size_t step = cell >= 14.0 ? 1 : 5;
  for (size_t i = 0; i < chart.labels.size(); ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * cell;
    if (i % step == 0) svg.text({kLabelWidth + middle, kMapTop - 8.0}, std::to_string(i + 1), Anchor::kMiddle, "tick");
    if (cell < 11.0 && i % step != 0) continue;
    const std::string label = fmt::format("{} {}", fit_text_to(chart.labels[i], kLabelWidth - 34.0, 11.0), i + 1);
    svg.text({kLabelWidth - 8.0, kMapTop + middle + 4.0}, label, Anchor::kEnd, "tick");
  }
  for (size_t r = 0; r < chart.percent.size(); ++r) {
    for (size_t c = 0; c < chart.percent[r].size(); ++c) draw_cell(svg, chart, r, c, cell);
  }
  return svg;
}

std::string describe(const HeatMap& chart) {
  double low = 100.0;
  double high = 0.0;
  double worst = -1.0;
  std::string confused = "none";
  for (size_t r = 0; r < chart.percent.size(); ++r) {
    low = std::min(low, chart.percent[r][r]);
    high = std::max(high, chart.percent[r][r]);
    for (size_t c = 0; c < chart.percent[r].size(); ++c) {
      if (c == r || chart.percent[r][c] <= worst) continue;
      worst = chart.percent[r][c];
      confused = fmt::format("{} taken for {}, {:.0f} percent", chart.labels[r], chart.labels[c], worst);
    }
  }
  return fmt::format(
      "A matrix of {0} by {0} classes: rows are the true class, columns the predicted one. The diagonal, queries that "
      "are right, lies between {1:.0f} and {2:.0f} percent. Most confused: {3}.",
      chart.labels.size(), low, high, confused);
}

}  // namespace protocom
