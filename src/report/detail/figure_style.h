#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// A named colour of pages and figures ("#rrggbb").
struct PaletteColour {
  const char* name;
  const char* light;
  const char* dark;
};

/// Every colour there is. Those of data keep a contrast of 3:1 with card and page, those of text 4.5:1, in both modes.
const std::vector<PaletteColour>& palette();

/// The palette as CSS variables on `selector`: light, dark where the reader prefers it, and print.
std::string palette_css(std::string_view selector);

/// How an element of a class is drawn. "series" means the colour of the element's series class.
struct FigureRule {
  const char* css_class;
  const char* fill;    // name of a colour, "series" or nullptr
  const char* stroke;  // the same
  double stroke_width;
  double dash;     // length of dashes and gaps; 0: none
  double opacity;  // of the fill
  double font_size;
  bool bold;
};

const std::vector<FigureRule>& figure_rules();

/// How a line of a class is broken, so that curves are distinguished without their colours.
struct DashRule {
  const char* css_class;
  std::vector<double> lengths;  // dash, gap, ...
};

const std::vector<DashRule>& dash_rules();

/// The rules as CSS.
std::string figure_css();

/// The series classes: "m-mean", ..., "hue-1", ...; each is a colour's name in the palette.
bool is_series_class(std::string_view word);

}  // namespace protocom
