#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Text made safe for HTML and SVG, in content and in quoted attributes.
std::string escape_html(std::string_view text);

/// Where a text stands relative to its point.
enum class Anchor { kStart, kMiddle, kEnd };

/// A point of a drawing: x to the right, y down, in CSS pixels at full size.
struct SvgPoint {
  double x = 0.0;
  double y = 0.0;
};

/// A small drawing to be set into an HTML page. Colours come from the page's style sheet by class (see
/// src/report/style.cc), so that one drawing serves light, dark and print.
class Svg {
 public:
  /// `id` must be unique in the page; `title` and `description` are what a screen reader says.
  Svg(double width, double height, std::string id, std::string title, std::string description);

  void rect(SvgPoint corner, double width, double height, std::string_view css_class);
  void line(SvgPoint from, SvgPoint to, std::string_view css_class);
  void polyline(const std::vector<SvgPoint>& points, std::string_view css_class);
  void circle(SvgPoint center, double radius, std::string_view css_class);
  void text(SvgPoint at, std::string_view words, Anchor anchor, std::string_view css_class);
  /// Everything until `end_group` shows `tooltip` under the pointer.
  void begin_group(std::string_view tooltip);
  void end_group();

  /// The finished element.
  [[nodiscard]] std::string str() const;

 private:
  double width_;
  double height_;
  std::string id_;
  std::string title_;
  std::string description_;
  std::string body_;
};

/// Maps values to positions.
struct LinearScale {
  double low = 0.0;   ///< the value at `from`
  double high = 1.0;  ///< the value at `to`; differs from `low`
  double from = 0.0;
  double to = 1.0;

  [[nodiscard]] double operator()(double value) const { return from + (value - low) / (high - low) * (to - from); }
  /// Round values (1, 2 or 5 times a power of ten apart) within [low, high], about `count` of them.
  [[nodiscard]] std::vector<double> ticks(int count) const;
};

/// The smallest round number (1, 2, 2.5, 5 or 10 times a power of ten) that is at least `value` > 0.
double round_up(double value);

}  // namespace protocom
