#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/enum_words.h"
#include "base/utf8.h"
#include "report/detail/figure_style.h"

namespace protocom {
namespace {

using Kind = SvgElement::Kind;

// Two decimals are a fiftieth of a pixel; trailing zeros carry no information.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

constexpr EnumWord<Anchor> kAnchors[] = {{Anchor::kStart, "start"}, {Anchor::kMiddle, "middle"}, {Anchor::kEnd, "end"}};

std::string point_list(const std::vector<SvgPoint>& points) {
  std::string text;
  for (const SvgPoint& p : points) text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(p.x), number(p.y));
  return text;
}

// A JPEG begins with ff d8 ff, which is "/9j/" in base64.
const char* media_type_of(std::string_view base64_bytes) {
  return base64_bytes.substr(0, 4) == "/9j/" ? "image/jpeg" : "image/png";
}

std::string text_markup(const SvgElement& e, const std::string& css_class) {
  const std::string x = number(e.points[0].x);
  const std::string y = number(e.points[0].y);
  const std::string turn = e.turn == 0.0 ? "" : fmt::format(" transform=\"rotate({} {} {})\"", number(e.turn), x, y);
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\"{}>{}</text>\n", x, y,
                     word_of(kAnchors, e.anchor), css_class, turn, escape_html(e.text));
}

std::string sheet_id(const std::string& id, size_t sheet) { return fmt::format("{}-sheet-{}", id, sheet); }

/// Returns a sheet and one of its tiles: a symbol shows only the part of it inside its box.
std::string tile_markup(const SvgElement& e, const std::string& id) {
  const std::string sheet = sheet_id(id, e.number);
  if (e.kind == Kind::kSheet) {
    return fmt::format("<defs><image id=\"{}\" width=\"{}\" height=\"{}\" href=\"data:{};base64,{}\"/></defs>\n", sheet,
                       number(e.side), number(e.side), media_type_of(e.text), escape_html(e.text));
  }
  const std::string own = fmt::format("{}-{}-{}", sheet, number(e.source.x), number(e.source.y));
  return fmt::format(
      "<symbol id=\"{0}\" viewBox=\"{1} {2} {3} {3}\"><use href=\"#{4}\"/></symbol><use href=\"#{0}\" x=\"{5}\" "
      "y=\"{6}\" width=\"{7}\" height=\"{7}\"/>\n",
      own, number(e.source.x), number(e.source.y), number(e.side), sheet, number(e.points[0].x), number(e.points[0].y),
      number(e.width));
}

std::string group_markup(const SvgElement& e, const std::string& css_class) {
  return fmt::format("<g{}>{}\n", css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class),
                     e.text.empty() ? "" : fmt::format("<title>{}</title>", escape_html(e.text)));
}

std::string markup(const SvgElement& e, const std::string& id) {
  const std::string opacity = e.opacity < 1.0 ? fmt::format(" fill-opacity=\"{:.2f}\"", e.opacity) : "";
  const std::string css_class = escape_html(e.css_class);
  switch (e.kind) {
    case Kind::kRect:
      return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" class=\"{}\"{}/>\n",
                         number(e.points[0].x), number(e.points[0].y), number(e.width), number(e.height), css_class,
                         opacity);
    case Kind::kLine:
      return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", number(e.points[0].x),
                         number(e.points[0].y), number(e.points[1].x), number(e.points[1].y), css_class);
    case Kind::kPolyline:
      return fmt::format("<polyline fill=\"none\" class=\"{}\" points=\"{}\"/>\n", css_class, point_list(e.points));
    case Kind::kPolygon:
      return fmt::format("<polygon class=\"{}\" points=\"{}\"/>\n", css_class, point_list(e.points));
    case Kind::kCircle:
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", number(e.points[0].x),
                         number(e.points[0].y), number(e.width), css_class);
    case Kind::kText:
      return text_markup(e, css_class);
    case Kind::kImage:
      return fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" href=\"data:{};base64,{}\"/>\n",
                         number(e.points[0].x), number(e.points[0].y), number(e.width), number(e.height),
                         media_type_of(e.text), escape_html(e.text));
    case Kind::kSheet:
    case Kind::kTile:
      return tile_markup(e, id);
    case Kind::kOpenGroup:
      return group_markup(e, css_class);
    case Kind::kCloseGroup:
      return "</g>\n";
  }
  return "";
}

size_t code_points(std::string_view words) {
  size_t count = 0;
  for (const char c : words) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return count;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0, next = 0; i < text.size(); i = next) {
    const Letter letter = letter_at(text, i);
    next = i + letter.size;
    switch (text[i]) {
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
      case '\n':
      case '\t':
      case '\r':
        out += text[i];
        break;
      default:
        // XML has no control characters, and no name may reverse the text beside it.
        out += letter.steers ? " " : text.substr(i, letter.size);
    }
  }
  return out;
}

Svg::Svg(double width, double height, SvgLabels labels) : width_(width), height_(height), labels_(std::move(labels)) {}

void Svg::rect(const SvgBox& box, std::string_view css_class, double opacity) {
  elements_.push_back(
      {Kind::kRect, {box.corner}, box.width, box.height, opacity, Anchor::kStart, std::string(css_class), ""});
}

void Svg::line(SvgPoint from, SvgPoint to, std::string_view css_class) {
  elements_.push_back({Kind::kLine, {from, to}, 0, 0, 1, Anchor::kStart, std::string(css_class), ""});
}

void Svg::polyline(const std::vector<SvgPoint>& points, std::string_view css_class) {
  elements_.push_back({Kind::kPolyline, points, 0, 0, 1, Anchor::kStart, std::string(css_class), ""});
}

void Svg::polygon(const std::vector<SvgPoint>& points, std::string_view css_class) {
  elements_.push_back({Kind::kPolygon, points, 0, 0, 1, Anchor::kStart, std::string(css_class), ""});
}

void Svg::circle(SvgPoint center, double radius, std::string_view css_class) {
  elements_.push_back({Kind::kCircle, {center}, radius, 0, 1, Anchor::kStart, std::string(css_class), ""});
}

void Svg::text(SvgPoint at, std::string_view words, Anchor anchor, std::string_view css_class, double turn) {
  elements_.push_back({Kind::kText, {at}, 0, 0, 1, anchor, std::string(css_class), std::string(words), turn});
}

void Svg::image(SvgPoint corner, double size, std::string_view base64_bytes) {
  elements_.push_back({Kind::kImage, {corner}, size, size, 1, Anchor::kStart, "", std::string(base64_bytes)});
}

size_t Svg::sheet(std::string_view base64_bytes, double side) {
  SvgElement element{Kind::kSheet, {}, 0, 0, 1, Anchor::kStart, "", std::string(base64_bytes)};
  element.number = sheets_++;
  element.side = side;
  elements_.push_back(element);
  return element.number;
}

void Svg::tile(SvgPoint corner, double size, size_t sheet, SvgPoint source, double side) {
  elements_.push_back({Kind::kTile, {corner}, size, size, 1, Anchor::kStart, "", "", 0.0, sheet, source, side});
}

void Svg::begin_group(std::string_view tooltip, std::string_view css_class) {
  elements_.push_back({Kind::kOpenGroup, {}, 0, 0, 1, Anchor::kStart, std::string(css_class), std::string(tooltip)});
}

void Svg::begin_spot(SvgPoint center, double radius) {
  begin_group("", "spot");
  circle(center, radius, "hit");
  begin_group("", "peek");
}

void Svg::end_spot() {
  end_group();
  end_group();
}

void Svg::end_group() { elements_.push_back({Kind::kCloseGroup, {}, 0, 0, 1, Anchor::kStart, "", ""}); }

std::string Svg::body() const {
  std::string text;
  const std::string id = escape_html(labels_.id);
  for (const SvgElement& e : elements_) text += markup(e, id);
  return text;
}

std::string Svg::element(const std::string& attributes, const std::string& content) const {
  return fmt::format(
      "<svg{0} viewBox=\"0 0 {1} {2}\" width=\"{1}\" height=\"{2}\" role=\"img\" aria-labelledby=\"{3}-title "
      "{3}-desc\">\n<title id=\"{3}-title\">{4}</title>\n<desc id=\"{3}-desc\">{5}</desc>\n{6}</svg>\n",
      attributes, number(width_), number(height_), escape_html(labels_.id), escape_html(labels_.title),
      escape_html(labels_.description), content);
}

std::string Svg::str() const { return element("", body()); }

Svg Svg::framed() const {
  constexpr double kMargin = 14.0;
  constexpr double kTitle = 30.0;
  Svg sheet(width_ + 2.0 * kMargin, height_ + kTitle + 2.0 * kMargin, labels_);
  sheet.rect({{0.0, 0.0}, sheet.width_, sheet.height_}, "paper");
  sheet.text({kMargin, kMargin + 13.0}, fit_text_to(labels_.title, width_, 14.3), Anchor::kStart, "label");
  for (SvgElement moved : elements_) {
    for (SvgPoint& point : moved.points) point = {point.x + kMargin, point.y + kMargin + kTitle};
    sheet.elements_.push_back(std::move(moved));
  }
  return sheet;
}

std::string Svg::file() const {
  const std::string style = fmt::format("<style>{}{}</style>\n", palette_css("svg"), figure_css());
  const Svg sheet = framed();
  return sheet.element(" xmlns=\"http://www.w3.org/2000/svg\"", style + sheet.body());
}

namespace {

/// Returns the number of bytes of the first `count` letters.
size_t bytes_of(std::string_view words, double count) {
  size_t at = 0;
  for (double seen = 0; at < words.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(words[at]) & 0xC0U) != 0x80U;
    if (begins && seen++ >= count) break;
  }
  return at;
}

}  // namespace

double text_width(std::string_view words, double font_size) {
  constexpr double kMeanAdvance = 0.58;  // of DejaVu Sans, the widest of the requested fonts
  return kMeanAdvance * font_size * static_cast<double>(code_points(words));
}

std::string fit_text_to(std::string_view words, double width, double font_size) {
  if (text_width(words, font_size) <= width) return std::string(words);
  const double letters = std::max(0.0, std::floor(width / text_width("…", font_size) + 1e-9) - 1.0);
  return std::string(words.substr(0, bytes_of(words, letters))) + "…";
}

std::vector<double> LinearScale::ticks(int count) const {
  constexpr double kMostTicks = 1000;  // for an axis that is too short for its numbers
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    // Ticks slightly closer than requested are better than half as many.
    if (factor * power >= rough * 0.7) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> values;
  const double first = std::ceil(low / step - 1e-9);
  for (double k = 0; k < kMostTicks && (first + k) * step <= high + 1e-9 * step; k += 1.0)
    values.push_back((first + k) * step + 0.0);  // + 0.0: ceil gives -0 for values just below 0
  return values;
}

int decimals_for(const std::vector<double>& values) {
  constexpr int kMost = 4;
  for (int decimals = 0; decimals < kMost; ++decimals) {
    const double unit = std::pow(10.0, decimals);
    bool exact = true;
    for (const double value : values) exact = exact && std::abs(std::round(value * unit) - value * unit) < 1e-6 * unit;
    if (exact) return decimals;
  }
  return kMost;
}

std::string format_number(double value, int decimals) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return (value < 0.0 && !zero ? "−" : "") + digits;
}

double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= value * (1.0 - 1e-12)) return factor * power;
  }
  return 10.0 * power;
}

}  // namespace protocom
