#include "report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/detail/marks.h"

namespace protocom {
namespace {

constexpr double kLeastWidth = 760.0;
constexpr double kMostLabel = 230.0;
constexpr double kCellLabelFont = 11.0;
constexpr double kGap = 8.0;
constexpr double kMostCell = 34.0;
constexpr double kLeastCell = 17.0;  // fits a name beside it and a number of two digits into it
constexpr double kScale = 54.0;      // the two scales above the map
constexpr int kSteps = 10;           // shades of a scale
constexpr double kStep = 16.0;       // pixels
constexpr double kPrinted = 4.5;     // percent from which a cell shows its number
constexpr double kTextSwitch = 0.7;  // shade that is dark enough for light text
constexpr const char* kRightAnswers = "cell m-completed";
constexpr const char* kWrong = "cell m-gauss-fusion";

/// Positions in the chart.
struct HeatLayout {
  double label = 100.0;  // width of the longest name; at least of the titles
  double cell = 0.0;
  double left = 0.0;
  double top = 0.0;
  double most_wrong = 0.0;  // end of the scale of mistakes, percent
};

HeatLayout lay_out(const HeatMap& chart) {
  HeatLayout at;
  for (const std::string& label : chart.labels) at.label = std::max(at.label, text_width(label, kCellLabelFont));
  at.label = std::min(at.label, kMostLabel);
  const double room = kLeastWidth - at.label - 2.0 * kGap;
  at.cell = std::clamp(room / std::max<double>(1.0, static_cast<double>(chart.labels.size())), kLeastCell, kMostCell);
  at.left = at.label + kGap;
  at.top = kScale + at.label + kGap;
  for (size_t r = 0; r < chart.percent.size(); ++r) {
    for (size_t c = 0; c < chart.percent[r].size(); ++c) {
      if (c != r) at.most_wrong = std::max(at.most_wrong, chart.percent[r][c]);
    }
  }
  at.most_wrong = std::clamp(std::ceil(at.most_wrong / 10.0) * 10.0, 10.0, 100.0);
  return at;
}

/// Draws a scale of shades with their percentages.
void draw_scale(Svg& svg, SvgPoint corner, const char* words, const char* css_class, double most) {
  svg.text({corner.x, corner.y + 10.0}, words, Anchor::kStart, "note");
  for (int i = 0; i < kSteps; ++i)
    svg.rect({{corner.x + kStep * i, corner.y + 16.0}, kStep, 12.0}, css_class, (i + 0.5) / kSteps);
  for (const double share : {0.0, 0.5, 1.0}) {
    const std::string unit = share == 1.0 ? "%" : "";
    svg.text({corner.x + kStep * kSteps * share, corner.y + 40.0}, fmt::format("{:.0f}{}", most * share, unit),
             Anchor::kMiddle, "tick");
  }
}

void draw_cell(Svg& svg, const HeatMap& chart, size_t r, size_t c, const HeatLayout& at) {
  const double value = chart.percent[r][c];
  const SvgPoint corner{at.left + at.cell * static_cast<double>(c), at.top + at.cell * static_cast<double>(r)};
  const double shade = std::min(1.0, value / (r == c ? 100.0 : at.most_wrong));
  if (value < 0.05) return;
  svg.begin_group(fmt::format("{}, {}: {:.1f} % of the queries of {}", chart.column_title, chart.labels[c], value,
                              chart.labels[r]));
  svg.rect({{corner.x + 0.5, corner.y + 0.5}, at.cell - 1.0, at.cell - 1.0}, r == c ? kRightAnswers : kWrong, shade);
  if (value >= kPrinted) {
    svg.text({corner.x + 0.5 * at.cell, corner.y + 0.5 * at.cell + 3.5}, fmt::format("{:.0f}", value), Anchor::kMiddle,
             shade >= kTextSwitch ? "cell-text-on" : "cell-text");
  }
  svg.end_group();
}

/// Draws the background of the cells: grey where both classes were present, nothing if no episode had both.
void draw_ground(Svg& svg, const HeatMap& chart, const HeatLayout& at) {
  for (size_t r = 0; r < chart.percent.size(); ++r) {
    const std::vector<double>& row = chart.percent[r];
    for (size_t from = 0, c = 0; c <= row.size(); ++c) {
      if (c < row.size() && row[c] >= 0.0) continue;
      const double wide = at.cell * static_cast<double>(c - from);
      if (c > from)
        svg.rect({{at.left + at.cell * static_cast<double>(from), at.top + at.cell * static_cast<double>(r) + 0.5},
                  wide,
                  at.cell - 1.0},
                 "empty");
      from = c + 1;
    }
  }
}

void draw_names(Svg& svg, const HeatMap& chart, const HeatLayout& at) {
  for (size_t i = 0; i < chart.labels.size(); ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * at.cell;
    const std::string label = fit_text_to(chart.labels[i], kMostLabel, kCellLabelFont);
    svg.text({at.left - kGap, at.top + middle + 4.0}, label, Anchor::kEnd, "tick");
    svg.text({at.left + middle + 4.0, at.top - kGap}, label, Anchor::kStart, "tick", -90.0);
  }
}

}  // namespace

Svg draw(const HeatMap& chart) {
  const HeatLayout at = lay_out(chart);
  const double side = at.cell * static_cast<double>(chart.labels.size());
  Svg svg(std::max(at.left + side + kGap, kLeastWidth), at.top + side + kGap,
          {chart.id, chart.title, chart.description.empty() ? describe(chart) : chart.description});
  draw_scale(svg, {8.0, 0.0}, "right", kRightAnswers, 100.0);
  draw_scale(svg, {kStep * kSteps + 60.0, 0.0}, "taken for another class", kWrong, at.most_wrong);
  svg.text({at.left - kGap, at.top - kGap}, chart.row_title + " ↓", Anchor::kEnd, "note");
  svg.text({at.left - kGap, at.top - kGap - 18.0}, chart.column_title + " →", Anchor::kEnd, "note");
  draw_ground(svg, chart, at);
  draw_names(svg, chart, at);
  for (size_t r = 0; r < chart.percent.size(); ++r) {
    for (size_t c = 0; c < chart.percent[r].size(); ++c) draw_cell(svg, chart, r, c, at);
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
