#include "report/detail/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "report/detail/figure_style.h"

namespace protocom {
namespace {

constexpr double kFont = 12.0;
constexpr double kLine = 18.0;
constexpr double kKey = 33.0;        // the mark and the space behind it
constexpr double kNarrowKey = 18.0;  // of a mark without a line
constexpr double kMarkGap = 14.0;
constexpr double kTurn = 6.283185307179586;
constexpr size_t kMarks = 9;

/// Returns the position of each entry, relative to the legend's corner.
std::vector<SvgPoint> places(const std::vector<LegendEntry>& entries, double width) {
  std::vector<SvgPoint> result;
  SvgPoint at{0.0, kLine * 0.5};
  for (const LegendEntry& entry : entries) {
    const double key = entry.line ? kKey : kNarrowKey;
    const double own = key + std::min(text_width(entry.label, kFont), width - key);
    if (at.x > 0.0 && at.x + own > width) at = {0.0, at.y + kLine};
    result.push_back(at);
    at.x += own + kMarkGap;
  }
  return result;
}

/// Returns the index of a series class within its kind: the paper's rows, the methods, those with parameters, hues.
std::optional<size_t> series_index(std::string_view series_class) {
  static constexpr std::array<std::string_view, 4> kPaper = {"m-mean", "m-completed", "m-mean-fusion",
                                                             "m-gauss-fusion"};
  const auto* found = std::find(kPaper.begin(), kPaper.end(), series_class);
  if (found != kPaper.end()) return static_cast<size_t>(found - kPaper.begin());
  for (const std::string_view kind : {"extra-", "other-", "hue-"}) {
    if (series_class.substr(0, kind.size()) != kind) continue;
    const auto number = static_cast<size_t>(std::atoi(std::string(series_class.substr(kind.size())).c_str()));
    // Counts on after the paper's rows, such that the other methods start from the first.
    return number == 0 ? 0 : number - 1 + (kind == "extra-" ? kPaper.size() : 0);
  }
  return std::nullopt;
}

std::vector<SvgPoint> around(SvgPoint at, double r, std::vector<SvgPoint> shape) {
  for (SvgPoint& p : shape) p = {at.x + r * p.x, at.y + r * p.y};
  return shape;
}

/// Rotates a shape by a fraction of a turn.
std::vector<SvgPoint> turned(std::vector<SvgPoint> shape, double part) {
  const double c = std::cos(part * kTurn);
  const double s = std::sin(part * kTurn);
  for (SvgPoint& p : shape) p = {c * p.x - s * p.y, s * p.x + c * p.y};
  return shape;
}

/// Returns a star with five points, one at the top.
std::vector<SvgPoint> star() {
  constexpr int kPoints = 5;
  std::vector<SvgPoint> shape;
  for (int i = 0; i < 2 * kPoints; ++i) {
    const double radius = i % 2 == 0 ? 1.4 : 0.6;
    const double angle = kTurn * i / (2.0 * kPoints);
    shape.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  return shape;
}

}  // namespace

size_t mark_of(std::string_view series_class, size_t index) {
  return series_index(series_class).value_or(index) % kMarks;
}

std::string dash_of(std::string_view series_class) {
  const size_t dash = series_index(series_class).value_or(0) / kMarks % (dash_rules().size() + 1);
  return dash == 0 ? "" : fmt::format(" dash-{}", dash);
}

void draw_mark(Svg& svg, SvgPoint at, double r, size_t index, std::string_view css_class) {
  // Corners of a plus with arms of width 0.8 r, as shares of r.
  static const std::vector<SvgPoint> kPlus = {{-.4, -1.2}, {.4, -1.2}, {.4, -.4}, {1.2, -.4}, {1.2, .4},   {.4, .4},
                                              {.4, 1.2},   {-.4, 1.2}, {-.4, .4}, {-1.2, .4}, {-1.2, -.4}, {-.4, -.4}};
  switch (index % kMarks) {
    case 0:
      return svg.circle(at, r, css_class);
    case 1:
      return svg.rect({{at.x - 0.9 * r, at.y - 0.9 * r}, 1.8 * r, 1.8 * r}, css_class);
    case 2:
      return svg.polygon(around(at, r, {{0, -1.2}, {1.1, .9}, {-1.1, .9}}), css_class);
    case 3:
      return svg.polygon(around(at, r, {{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}}), css_class);
    case 4:
      return svg.polygon(around(at, r, {{0, 1.2}, {1.1, -.9}, {-1.1, -.9}}), css_class);
    case 5:
      return svg.polygon(around(at, r, kPlus), css_class);
    case 6:
      return svg.polygon(around(at, r, turned(kPlus, 0.125)), css_class);
    case 7:
      return svg.polygon(around(at, r, star()), css_class);
    default:
      return svg.rect({{at.x - 0.5 * r, at.y - 1.4 * r}, r, 2.8 * r}, css_class);
  }
}

double legend_height(const std::vector<LegendEntry>& entries, double width) {
  return entries.empty() ? 0.0 : places(entries, width).back().y + kLine * 0.5;
}

void draw_legend(Svg& svg, SvgPoint corner, double width, const std::vector<LegendEntry>& entries) {
  const std::vector<SvgPoint> where = places(entries, width);
  for (size_t i = 0; i < entries.size(); ++i) {
    const SvgPoint at{corner.x + where[i].x, corner.y + where[i].y};
    const std::string& own = entries[i].css_class;
    const double key = entries[i].line ? kKey : kNarrowKey;
    if (entries[i].line)
      svg.line({at.x, at.y}, {at.x + 28.0, at.y}, own == "reference" ? own : "curve " + own + dash_of(own));
    if (entries[i].mark)
      draw_mark(svg, {at.x + 0.5 * key - 3.0, at.y}, 4.0, entries[i].place.value_or(mark_of(own, i)), "mark " + own);
    svg.text({at.x + key, at.y + 4.0}, fit_text_to(entries[i].label, width - key, kFont), Anchor::kStart, "legend");
  }
}

}  // namespace protocom
