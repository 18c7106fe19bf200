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

/// Returns all colours. Those of data keep a contrast of 3:1 with card and page, those of text 4.5:1, in both modes.
const std::vector<PaletteColour>& palette();

/// Returns the palette as CSS variables on `selector`: light, dark if the reader prefers it, and print.
std::string palette_css(std::string_view selector);

/// Style of an element of a class. "series" means the colour of the element's series class.
struct FigureRule {
  const char* css_class;
  const char* fill;    // name of a colour, "series" or nullptr
  const char* stroke;  // name of a colour, "series" or nullptr
  double stroke_width;
  double dash;     // length of dashes and gaps; 0: none
  double opacity;  // of the fill
  double font_size;
  bool bold;
};

const std::vector<FigureRule>& figure_rules();

/// Dash pattern of a line of a class, so that curves differ by more than their colours.
struct DashRule {
  const char* css_class;
  std::vector<double> lengths;  // dash, gap, ...
};

const std::vector<DashRule>& dash_rules();

/// Returns the rules as CSS.
std::string figure_css();

/// Returns whether a word is a series class: "m-mean", ..., "hue-1", ..., each the name of a colour in the palette.
bool is_series_class(std::string_view word);

}  // namespace protocom
