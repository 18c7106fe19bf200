#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/svg.h"

namespace protocom {

/// One picture with a line below it.
struct PictureTile {
  std::string picture;  ///< a JPEG or PNG in base64; empty: an empty box
  std::string caption;
  std::string tooltip;  ///< for pointer and screen reader
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureTile, picture, caption, tooltip)

/// A row of up to five pictures under a heading.
struct PictureRow {
  std::string label;
  std::vector<PictureTile> tiles;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureRow, label, tiles)

/// Rows of pictures.
struct PictureChart {
  std::string id;  ///< unique in the page
  std::string title;
  std::string description;  ///< what the chart shows, in words
  std::vector<PictureRow> rows;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureChart, id, title, description, rows)

/// Draws the chart, 360 pixels wide at full size.
Svg draw(const PictureChart& chart);

/// Describes its rows and pictures in words.
std::string describe(const PictureChart& chart);

}  // namespace protocom
