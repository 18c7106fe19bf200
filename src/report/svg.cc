#include "protocom/report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace protocom {
namespace {

// Two decimals are a fiftieth of a pixel; zeros at the end say nothing.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

const char* anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "start";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Svg::Svg(double width, double height, std::string id, std::string title, std::string description)
    : width_(width),
      height_(height),
      id_(std::move(id)),
      title_(std::move(title)),
      description_(std::move(description)) {}

void Svg::rect(SvgPoint corner, double width, double height, std::string_view css_class) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" class=\"{}\"/>\n", number(corner.x),
                       number(corner.y), number(width), number(height), css_class);
}

void Svg::line(SvgPoint from, SvgPoint to, std::string_view css_class) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(from.x), number(from.y),
                       number(to.x), number(to.y), css_class);
}

void Svg::polyline(const std::vector<SvgPoint>& points, std::string_view css_class) {
  body_ += fmt::format("<polyline fill=\"none\" class=\"{}\" points=\"", css_class);
  for (const SvgPoint& p : points) body_ += fmt::format("{},{} ", number(p.x), number(p.y));
  body_ += "\"/>\n";
}

void Svg::circle(SvgPoint center, double radius, std::string_view css_class) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", number(center.x), number(center.y),
                       number(radius), css_class);
}

void Svg::text(SvgPoint at, std::string_view words, Anchor anchor, std::string_view css_class) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", number(at.x),
                       number(at.y), anchor_name(anchor), css_class, escape_html(words));
}

void Svg::begin_group(std::string_view tooltip) {
  body_ += fmt::format("<g><title>{}</title>\n", escape_html(tooltip));
}
void Svg::end_group() { body_ += "</g>\n"; }

std::string Svg::str() const {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n"
      "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-desc\">{4}</desc>\n{5}</svg>\n",
      number(width_), number(height_), escape_html(id_), escape_html(title_), escape_html(description_), body_);
}

std::vector<double> LinearScale::ticks(int count) const {
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    // Ticks a little closer than asked for are better than half as many.
    if (factor * power >= rough * 0.7) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> values;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1.0)
    values.push_back(k * step + 0.0);  // + 0.0: ceil gives -0 for what lies just below 0
  return values;
}

double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= value * (1.0 - 1e-12)) return factor * power;
  }
  return 10.0 * power;
}

}  // namespace protocom
