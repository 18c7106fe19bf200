#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Escapes text for HTML and SVG, in content and in quoted attributes.
std::string escape_html(std::string_view text);

/// Position of a text relative to its point.
enum class Anchor { kStart, kMiddle, kEnd };

/// A point of a drawing: x to the right, y down, in CSS pixels at full size.
struct SvgPoint {
  double x = 0.0;
  double y = 0.0;
};

/// A rectangle, in pixels.
struct SvgBox {
  SvgPoint corner;
  double width = 0.0;
  double height = 0.0;
};

/// Labels that distinguish the drawings of a page.
struct SvgLabels {
  std::string id;     ///< unique in the page
  std::string title;  ///< read by screen readers, like the description
  std::string description;
};

/// One element of a drawing; which fields apply depends on the kind.
struct SvgElement {
  enum class Kind { kRect, kLine, kPolyline, kPolygon, kCircle, kText, kImage, kSheet, kTile, kOpenGroup, kCloseGroup };
  Kind kind = Kind::kRect;
  std::vector<SvgPoint> points;  ///< corner; both ends; all corners; centre; position of the text or picture
  double width = 0.0;            ///< of rect, image and tile; the radius of a circle
  double height = 0.0;           ///< of rect, image and tile
  double opacity = 1.0;          ///< of the fill
  Anchor anchor = Anchor::kStart;
  std::string css_class;
  std::string text;      ///< words; a group's tooltip; a picture's bytes in base64
  double turn = 0.0;     ///< clockwise rotation of words, degrees
  size_t number = 0;     ///< of a sheet, and for a tile that of its sheet
  SvgPoint source = {};  ///< a tile's corner on its sheet
  double side = 0.0;     ///< of a sheet, and of a tile on it
};

/// A small drawing. Colours come from its classes (see src/report/figure_style.cc), so that one drawing serves light,
/// dark and print, a page, a file of its own, and PNG.
class Svg {
 public:
  Svg(double width, double height, SvgLabels labels);

  void rect(const SvgBox& box, std::string_view css_class, double opacity = 1.0);
  void line(SvgPoint from, SvgPoint to, std::string_view css_class);
  void polyline(const std::vector<SvgPoint>& points, std::string_view css_class);
  void polygon(const std::vector<SvgPoint>& points, std::string_view css_class);
  void circle(SvgPoint center, double radius, std::string_view css_class);
  /// `turn`: clockwise, in degrees around the position.
  void text(SvgPoint at, std::string_view words, Anchor anchor, std::string_view css_class, double turn = 0.0);
  /// Adds a JPEG or PNG, given in base64, that fills a square of `size`.
  void image(SvgPoint corner, double size, std::string_view base64_bytes);
  /// Adds a square JPEG of `side` pixels, given in base64, of which `tile` shows parts; returns its number.
  size_t sheet(std::string_view base64_bytes, double side);
  /// Adds the square of `side` pixels at `source` of a sheet, filling a square of `size`.
  void tile(SvgPoint corner, double size, size_t sheet, SvgPoint source, double side);
  /// Everything until `end_group` shows `tooltip`, if not empty, under the pointer.
  void begin_group(std::string_view tooltip, std::string_view css_class = "");
  /// Adds an invisible disc. What is drawn until `end_spot` shows while the pointer is on it (or after a touch), above
  /// what was drawn before; not in a PNG.
  void begin_spot(SvgPoint center, double radius);
  void end_spot();
  void end_group();

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] const std::vector<SvgElement>& elements() const { return elements_; }

  /// Returns the finished element, for a page that has the style sheet.
  [[nodiscard]] std::string str() const;
  /// Returns a standalone file with its title, a margin and its style sheet, light or dark as the viewer prefers.
  [[nodiscard]] std::string file() const;
  /// Returns that file as a PNG in the light colours, `scale` pixels for each pixel of the drawing. Throws Error when a
  /// picture in it cannot be decoded.
  [[nodiscard]] std::string png(double scale = 2.0) const;

 private:
  [[nodiscard]] std::string body() const;
  [[nodiscard]] std::string element(const std::string& attributes, const std::string& content) const;
  /// Returns the drawing on paper of its own, under its title.
  [[nodiscard]] Svg framed() const;

  double width_;
  double height_;
  SvgLabels labels_;
  std::vector<SvgElement> elements_;
  size_t sheets_ = 0;
};

/// Estimates the width of a drawn text, in pixels, at a font size in pixels.
double text_width(std::string_view words, double font_size);

/// Returns the text if it fits into `width` pixels, else its beginning and an ellipsis.
std::string fit_text_to(std::string_view words, double width, double font_size);

/// Maps values to positions.
struct LinearScale {
  double low = 0.0;   ///< the value at `from`
  double high = 1.0;  ///< the value at `to`; differs from `low`
  double from = 0.0;
  double to = 1.0;

  [[nodiscard]] double operator()(double value) const { return from + (value - low) / (high - low) * (to - from); }
  /// Returns round values (1, 2 or 5 times a power of ten apart) within [low, high], about `count` of them.
  [[nodiscard]] std::vector<double> ticks(int count) const;
};

/// Returns the fewest decimals (at most 4) that distinguish `values` when printed: 0 for 20, 40; 2 for 0.25, 0.5.
int decimals_for(const std::vector<double>& values);

/// Returns a number with this many decimals and a true minus sign; never "−0.0".
std::string format_number(double value, int decimals);

/// Returns the smallest round number (1, 2, 2.5, 5 or 10 times a power of ten) that is at least `value` > 0.
double round_up(double value);

}  // namespace protocom
