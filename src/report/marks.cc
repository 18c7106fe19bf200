#include "report/marks.h"

#include <algorithm>
#include <array>

namespace protocom {
namespace {

constexpr double kFont = 12.0;
constexpr double kLine = 18.0;
constexpr double kKey = 24.0;  // the mark and the space behind it
constexpr double kMarkGap = 14.0;

/// Where each entry stands, relative to the legend's corner.
std::vector<SvgPoint> places(const std::vector<LegendEntry>& entries, double width) {
  std::vector<SvgPoint> result;
  SvgPoint at{0.0, kLine * 0.5};
  for (const LegendEntry& entry : entries) {
    const double own = kKey + std::min(text_width(entry.label, kFont), width - kKey);
    if (at.x > 0.0 && at.x + own > width) at = {0.0, at.y + kLine};
    result.push_back(at);
    at.x += own + kMarkGap;
  }
  return result;
}

}  // namespace

size_t mark_of(std::string_view series_class, size_t index) {
  static constexpr std::array<std::string_view, 4> kMethods = {"m-mean", "m-completed", "m-mean-fusion",
                                                               "m-gauss-fusion"};
  const auto* found = std::find(kMethods.begin(), kMethods.end(), series_class);
  return found == kMethods.end() ? index : static_cast<size_t>(found - kMethods.begin());
}

void draw_mark(Svg& svg, SvgPoint at, double r, size_t index, std::string_view css_class) {
  switch (index % 5) {
    case 0:
      return svg.circle(at, r, css_class);
    case 1:
      return svg.rect({{at.x - 0.9 * r, at.y - 0.9 * r}, 1.8 * r, 1.8 * r}, css_class);
    case 2:
      return svg.polygon({{at.x, at.y - 1.2 * r}, {at.x + 1.1 * r, at.y + 0.9 * r}, {at.x - 1.1 * r, at.y + 0.9 * r}},
                         css_class);
    case 3:
      return svg.polygon(
          {{at.x, at.y - 1.25 * r}, {at.x + 1.25 * r, at.y}, {at.x, at.y + 1.25 * r}, {at.x - 1.25 * r, at.y}},
          css_class);
    default:
      return svg.polygon({{at.x, at.y + 1.2 * r}, {at.x + 1.1 * r, at.y - 0.9 * r}, {at.x - 1.1 * r, at.y - 0.9 * r}},
                         css_class);
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
    if (entries[i].line) svg.line({at.x, at.y}, {at.x + 18.0, at.y}, own == "reference" ? own : "curve " + own);
    if (entries[i].mark) draw_mark(svg, {at.x + 9.0, at.y}, 4.0, mark_of(own, i), "mark " + own);
    svg.text({at.x + kKey, at.y + 4.0}, fit_text_to(entries[i].label, width - kKey, kFont), Anchor::kStart, "legend");
  }
}

}  // namespace protocom
