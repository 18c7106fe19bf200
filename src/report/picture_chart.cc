#include "report/picture_chart.h"

#include "report/detail/marks.h"

namespace protocom {
namespace {

constexpr double kTile = 66.0;
constexpr double kTileGap = 7.5;
constexpr double kHeading = 20.0;
constexpr double kCaption = 18.0;
constexpr double kPictureRow = kHeading + kTile + kCaption + 4.0;

void draw_tile(Svg& svg, const PictureTile& tile, SvgPoint corner) {
  svg.begin_group(tile.tooltip);
  svg.rect({corner, kTile, kTile}, "empty");
  if (!tile.picture.empty()) svg.image(corner, kTile, tile.picture);
  svg.text({corner.x + 0.5 * kTile, corner.y + kTile + 13.0}, fit_text_to(tile.caption, kTile, 11.0), Anchor::kMiddle,
           "note");
  svg.end_group();
}

}  // namespace

Svg draw(const PictureChart& chart) {
  Svg svg(kChartWidth, kPictureRow * static_cast<double>(chart.rows.size()) + 2.0,
          {chart.id, chart.title, chart.description.empty() ? describe(chart) : chart.description});
  for (size_t r = 0; r < chart.rows.size(); ++r) {
    const double top = kPictureRow * static_cast<double>(r);
    svg.text({0.0, top + 14.0}, fit_text_to(chart.rows[r].label, kChartWidth, 12.0), Anchor::kStart, "legend");
    for (size_t i = 0; i < chart.rows[r].tiles.size(); ++i)
      draw_tile(svg, chart.rows[r].tiles[i], {(kTile + kTileGap) * static_cast<double>(i), top + kHeading});
  }
  return svg;
}

std::string describe(const PictureChart& chart) {
  std::string text = "Pictures. ";
  for (const PictureRow& row : chart.rows) {
    text += row.label + ": ";
    for (size_t i = 0; i < row.tiles.size(); ++i) text += (i == 0 ? "" : "; ") + row.tiles[i].tooltip;
    text += ". ";
  }
  text.pop_back();
  return text;
}

}  // namespace protocom
