#include "demo/detail/paint.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace protocom::synthetic {
namespace {

constexpr double kOutline = 0.022;
constexpr Colour kInk = {0.09, 0.07, 0.13};

double srgb(double linear) {
  const double v = std::clamp(linear, 0.0, 1.0);
  return v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1.0 / 2.4) - 0.055;
}

Vec catmull_rom(Vec p0, Vec p1, Vec p2, Vec p3, double t) {
  const Vec m1 = (p2 - p0) * 0.5;
  const Vec m2 = (p3 - p1) * 0.5;
  const double t2 = t * t;
  const double t3 = t2 * t;
  return p1 * (2 * t3 - 3 * t2 + 1) + m1 * (t3 - 2 * t2 + t) + p2 * (-2 * t3 + 3 * t2) + m2 * (t3 - t2);
}

struct Pixels {
  unsigned char* data;
  int64_t height;
  int64_t width;
  int64_t stride;

  explicit Pixels(cairo_surface_t* surface)
      : data((cairo_surface_flush(surface), cairo_image_surface_get_data(surface))),
        height(cairo_image_surface_get_height(surface)),
        width(cairo_image_surface_get_width(surface)),
        stride(cairo_image_surface_get_stride(surface)) {}
  // cairo's ARGB32 is a native-endian word: B, G, R, A in memory on little-endian machines, premultiplied.
  [[nodiscard]] unsigned char* at(int64_t y, int64_t x) const { return data + y * stride + x * 4; }
};

// Samples bilinearly, transparent outside.
std::array<double, 4> sample(const Pixels& pixels, double x, double y) {
  std::array<double, 4> sum = {};
  const auto x0 = static_cast<int64_t>(std::floor(x));
  const auto y0 = static_cast<int64_t>(std::floor(y));
  for (int64_t dy = 0; dy < 2; ++dy) {
    for (int64_t dx = 0; dx < 2; ++dx) {
      const int64_t xi = x0 + dx;
      const int64_t yi = y0 + dy;
      if (xi < 0 || yi < 0 || xi >= pixels.width || yi >= pixels.height) continue;
      const double weight =
          (1.0 - std::abs(x - static_cast<double>(xi))) * (1.0 - std::abs(y - static_cast<double>(yi)));
      const unsigned char* p = pixels.at(yi, xi);
      for (size_t c = 0; c < 4; ++c) sum[c] += weight * p[c];
    }
  }
  return sum;
}

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) fail("cairo could not draw: {}", cairo_status_to_string(status));
}

}  // namespace

Colour mix(Colour a, Colour b, double t) { return {lerp(a.r, b.r, t), lerp(a.g, b.g, t), lerp(a.b, b.b, t)}; }

Colour oklch(double lightness, double chroma, double hue_degrees) {
  const double a = chroma * std::cos(radians(hue_degrees));
  const double b = chroma * std::sin(radians(hue_degrees));
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Profile taper(double root, double tip) {
  return [=](double t) { return lerp(root, tip, t); };
}

Profile leaf(double width, double peak) {
  const double power = std::log(0.5) / std::log(peak);
  return [=](double t) { return width * std::sin(kPi * std::pow(std::clamp(t, 0.0, 1.0), power)) + 0.004; };
}

std::vector<Vec> smooth(const std::vector<Vec>& knots, int points_per_knot) {
  std::vector<Vec> points;
  const size_t n = knots.size();
  for (size_t i = 0; i + 1 < n; ++i) {
    const Vec before = i == 0 ? knots[0] * 2.0 - knots[1] : knots[i - 1];
    const Vec after = i + 2 < n ? knots[i + 2] : knots[n - 1] * 2.0 - knots[n - 2];
    for (int k = 0; k < points_per_knot; ++k) {
      points.push_back(catmull_rom(before, knots[i], knots[i + 1], after, static_cast<double>(k) / points_per_knot));
    }
  }
  points.push_back(knots.back());
  return points;
}

Brush& Brush::polygon(const std::vector<Vec>& points) {
  cairo_new_sub_path(cairo_);
  for (const Vec& p : points) cairo_line_to(cairo_, p.x, p.y);
  cairo_close_path(cairo_);
  return *this;
}

Brush& Brush::blob(const std::vector<Vec>& points) {
  const size_t n = points.size();
  cairo_move_to(cairo_, points[0].x, points[0].y);
  for (size_t i = 0; i < n; ++i) {
    const Vec p1 = points[i];
    const Vec p2 = points[(i + 1) % n];
    const Vec c1 = p1 + (p2 - points[(i + n - 1) % n]) * (1.0 / 6.0);
    const Vec c2 = p2 - (points[(i + 2) % n] - p1) * (1.0 / 6.0);
    cairo_curve_to(cairo_, c1.x, c1.y, c2.x, c2.y, p2.x, p2.y);
  }
  cairo_close_path(cairo_);
  return *this;
}

Brush& Brush::ellipse(Vec center, double rx, double ry, double angle) {
  cairo_matrix_t saved;
  cairo_get_matrix(cairo_, &saved);
  cairo_translate(cairo_, center.x, center.y);
  cairo_rotate(cairo_, angle);
  cairo_scale(cairo_, rx, ry);
  cairo_new_sub_path(cairo_);
  cairo_arc(cairo_, 0, 0, 1, 0, 2 * kPi);
  cairo_close_path(cairo_);
  cairo_set_matrix(cairo_, &saved);
  return *this;
}

Brush& Brush::ribbon(const std::vector<Vec>& knots, const Profile& width) {
  const std::vector<Vec> spine = smooth(knots, 8);
  const size_t n = spine.size();
  std::vector<Vec> left;
  std::vector<Vec> right;
  for (size_t i = 0; i < n; ++i) {
    const Vec along = spine[std::min(i + 1, n - 1)] - spine[i == 0 ? 0 : i - 1];
    const double length = std::max(std::hypot(along.x, along.y), 1e-9);
    const Vec normal = {-along.y / length, along.x / length};
    const double w = width(static_cast<double>(i) / static_cast<double>(n - 1));
    left.push_back(spine[i] + normal * w);
    right.push_back(spine[i] - normal * w);
  }
  // Rounds the end by one more point beyond the tip.
  const Vec tip = spine[n - 1] - spine[n - 2];
  const double step = std::max(std::hypot(tip.x, tip.y), 1e-9);
  left.push_back(spine[n - 1] + tip * (width(1.0) / step));
  left.insert(left.end(), right.rbegin(), right.rend());
  return polygon(left);
}

Brush& Brush::line(const std::vector<Vec>& knots) {
  const std::vector<Vec> points = smooth(knots, 8);
  cairo_new_sub_path(cairo_);
  for (const Vec& p : points) cairo_line_to(cairo_, p.x, p.y);
  return *this;
}

void Brush::paint(Colour colour) {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;
  cairo_path_extents(cairo_, &x0, &y0, &x1, &y1);
  const Colour light = mix(colour, {1.0, 0.98, 0.9}, 0.22);
  const Colour dark = mix(colour, kInk, 0.26);
  std::unique_ptr<cairo_pattern_t, decltype(&cairo_pattern_destroy)> shade(
      cairo_pattern_create_linear(x0, y0, lerp(x0, x1, 0.35), y1), &cairo_pattern_destroy);
  cairo_pattern_add_color_stop_rgb(shade.get(), 0.0, light.r, light.g, light.b);
  cairo_pattern_add_color_stop_rgb(shade.get(), 0.45, colour.r, colour.g, colour.b);
  cairo_pattern_add_color_stop_rgb(shade.get(), 1.0, dark.r, dark.g, dark.b);
  cairo_set_source(cairo_, shade.get());
  cairo_fill_preserve(cairo_);
  ink(mix(colour, kInk, 0.72), kOutline);
}

void Brush::wash(Colour colour, double alpha) {
  cairo_set_source_rgba(cairo_, colour.r, colour.g, colour.b, alpha);
  cairo_fill(cairo_);
}

void Brush::ink(Colour colour, double width) {
  cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(cairo_, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_width(cairo_, width);
  cairo_set_source_rgb(cairo_, colour.r, colour.g, colour.b);
  cairo_stroke(cairo_);
}

void Brush::inside(const std::function<void()>& draw) {
  cairo_save(cairo_);
  cairo_clip(cairo_);
  draw();
  cairo_restore(cairo_);
}

Surface make_surface(int64_t height, int64_t width) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height)));
  check(cairo_surface_status(surface.get()));
  return surface;
}

Context make_context(cairo_surface_t* surface) {
  Context context(cairo_create(surface));
  check(cairo_status(context.get()));
  return context;
}

Image shrink(cairo_surface_t* surface, int64_t factor) {
  const Pixels pixels(surface);
  Image image;
  image.height = pixels.height / factor;
  image.width = pixels.width / factor;
  image.rgb.resize(static_cast<size_t>(image.height * image.width * 3));
  const int64_t area = factor * factor;
  for (int64_t i = 0; i < image.height * image.width; ++i) {
    std::array<int64_t, 3> sum = {};
    for (int64_t k = 0; k < area; ++k) {
      const unsigned char* p = pixels.at(i / image.width * factor + k / factor, i % image.width * factor + k % factor);
      for (size_t c = 0; c < 3; ++c) sum[c] += p[2 - c];
    }
    for (size_t c = 0; c < 3; ++c) {
      image.rgb[static_cast<size_t>(i) * 3 + c] = static_cast<uint8_t>((sum[c] + area / 2) / area);
    }
  }
  return image;
}

void composite_in_perspective(cairo_surface_t* target, cairo_surface_t* layer, Vec tilt) {
  const Pixels source(layer);
  const Pixels out(target);
  const double half_w = static_cast<double>(out.width) / 2;
  const double half_h = static_cast<double>(out.height) / 2;
  for (int64_t y = 0; y < out.height; ++y) {
    for (int64_t x = 0; x < out.width; ++x) {
      const double u = (static_cast<double>(x) + 0.5 - half_w) / half_w;
      const double v = (static_cast<double>(y) + 0.5 - half_h) / half_h;
      const double depth = 1.0 + tilt.x * u + tilt.y * v;
      const auto over = sample(source, u / depth * half_w + half_w - 0.5, v / depth * half_h + half_h - 0.5);
      if (over[3] <= 0.0) continue;
      unsigned char* p = out.at(y, x);
      for (size_t c = 0; c < 4; ++c) {
        p[c] = static_cast<unsigned char>(std::min(255.0, over[c] + p[c] * (1.0 - over[3] / 255.0) + 0.5));
      }
    }
  }
  cairo_surface_mark_dirty(target);
}

}  // namespace protocom::synthetic
