#include <cairo/cairo.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/to_whole.h"
#include "images/image.h"
#include "io/base64.h"
#include "report/detail/figure_style.h"
#include "report/svg.h"

namespace protocom {
namespace {

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

constexpr double kFullTurn = 6.283185307179586;

const char* light(const std::string& name) {
  for (const PaletteColour& colour : palette()) {
    if (name == colour.name) return colour.light;
  }
  return "#000000";
}

/// Combined style of an element's classes.
struct Look {
  FigureRule rule{"", nullptr, nullptr, 0, 0, 1, 13, false};
  std::string series = "ink";
  std::vector<double> dashes = {};
};

Look read_look(const SvgElement& element) {
  Look look;
  std::istringstream words(element.css_class);
  for (std::string word; words >> word;) {
    if (is_series_class(word)) look.series = word;
    for (const FigureRule& rule : figure_rules()) {
      if (word != rule.css_class) continue;
      look.rule = rule;
      if (rule.dash > 0.0) look.dashes = {rule.dash, rule.dash};
    }
    for (const DashRule& rule : dash_rules()) {
      if (word == rule.css_class) look.dashes = rule.lengths;
    }
  }
  return look;
}

void set_colour(cairo_t* to, const char* name, const Look& look, double opacity) {
  const char* hex = light(std::strcmp(name, "series") == 0 ? look.series : name) + 1;
  const auto value = std::strtoul(hex, nullptr, 16);
  cairo_set_source_rgba(to, static_cast<double>(value >> 16U & 255U) / 255.0,
                        static_cast<double>(value >> 8U & 255U) / 255.0, static_cast<double>(value & 255U) / 255.0,
                        opacity);
}

void paint_path(cairo_t* to, const Look& look, double opacity) {
  if (look.rule.fill != nullptr) {
    set_colour(to, look.rule.fill, look, opacity * look.rule.opacity);
    cairo_fill_preserve(to);
  }
  if (look.rule.stroke != nullptr) {
    set_colour(to, look.rule.stroke, look, 1.0);
    cairo_set_line_width(to, look.rule.stroke_width);
    cairo_set_dash(to, look.dashes.data(), static_cast<int>(look.dashes.size()), 0.0);
    cairo_stroke_preserve(to);
  }
  cairo_new_path(to);
}

void trace(cairo_t* to, const std::vector<SvgPoint>& points) {
  for (const SvgPoint& p : points) cairo_line_to(to, p.x, p.y);
}

void draw_words(cairo_t* to, const SvgElement& element, const Look& look) {
  cairo_select_font_face(to, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         look.rule.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(to, 0.94 * look.rule.font_size);  // DejaVu is wider than the fonts of browsers
  cairo_text_extents_t extents;
  cairo_text_extents(to, element.text.c_str(), &extents);
  const double share = element.anchor == Anchor::kStart ? 0.0 : element.anchor == Anchor::kMiddle ? 0.5 : 1.0;
  set_colour(to, look.rule.fill == nullptr ? "ink" : look.rule.fill, look, 1.0);
  cairo_save(to);
  cairo_translate(to, element.points[0].x, element.points[0].y);
  cairo_rotate(to, element.turn * kFullTurn / 360.0);
  cairo_move_to(to, -share * extents.x_advance, 0.0);
  cairo_show_text(to, element.text.c_str());
  cairo_restore(to);
  cairo_new_path(to);
}

void draw_picture(cairo_t* to, const SvgElement& element) {
  const Image image = decode_image(from_base64(element.text));
  Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(image.width), static_cast<int>(image.height)),
      &cairo_surface_destroy);
  const int stride = cairo_image_surface_get_stride(surface.get());
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  for (int64_t y = 0; y < image.height; ++y) {
    auto* row = reinterpret_cast<uint32_t*>(data + y * stride);
    for (int64_t x = 0; x < image.width; ++x) {
      const uint8_t* rgb = image.rgb.data() + 3 * (y * image.width + x);
      row[x] = static_cast<uint32_t>(rgb[0]) << 16U | static_cast<uint32_t>(rgb[1]) << 8U | rgb[2];
    }
  }
  cairo_surface_mark_dirty(surface.get());
  cairo_save(to);
  cairo_translate(to, element.points[0].x, element.points[0].y);
  cairo_scale(to, element.width / static_cast<double>(image.width), element.height / static_cast<double>(image.height));
  cairo_set_source_surface(to, surface.get(), 0.0, 0.0);
  cairo_paint(to);
  cairo_restore(to);
}

void draw(cairo_t* to, const SvgElement& element) {
  using Shape = SvgElement::Kind;
  const Look look = read_look(element);
  switch (element.kind) {
    case Shape::kRect:
      cairo_rectangle(to, element.points[0].x, element.points[0].y, element.width, element.height);
      return paint_path(to, look, element.opacity);
    case Shape::kCircle:
      cairo_arc(to, element.points[0].x, element.points[0].y, element.width, 0.0, kFullTurn);
      return paint_path(to, look, element.opacity);
    case Shape::kLine:
    case Shape::kPolyline:
      trace(to, element.points);
      return paint_path(to, look, element.opacity);
    case Shape::kPolygon:
      trace(to, element.points);
      cairo_close_path(to);
      return paint_path(to, look, element.opacity);
    case Shape::kText:
      return draw_words(to, element, look);
    case Shape::kImage:
      return draw_picture(to, element);
    case Shape::kSheet:
    case Shape::kTile:
    case Shape::kOpenGroup:
    case Shape::kCloseGroup:
      return;
  }
}

cairo_status_t append_bytes(void* out, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string Svg::png(double scale) const {
  const Svg sheet = framed();
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, to_whole<int>(std::ceil(sheet.width_ * scale)),
                                             to_whole<int>(std::ceil(sheet.height_ * scale))),
                  &cairo_surface_destroy);
  const Context context(cairo_create(surface.get()), &cairo_destroy);
  cairo_scale(context.get(), scale, scale);
  set_colour(context.get(), "card", {}, 1.0);
  cairo_paint(context.get());
  // A PNG has no pointer.
  size_t hidden = 0;
  for (const SvgElement& element : sheet.elements_) {
    const bool opens = element.kind == SvgElement::Kind::kOpenGroup;
    if (hidden > 0 || (opens && element.css_class == "spot")) {
      hidden += opens ? 1 : 0;
      hidden -= element.kind == SvgElement::Kind::kCloseGroup ? 1 : 0;
    } else {
      draw(context.get(), element);
    }
  }
  std::string bytes;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), &append_bytes, &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    fail("the figure '{}' cannot be drawn: {}", labels_.id, cairo_status_to_string(status));
  return bytes;
}

}  // namespace protocom
