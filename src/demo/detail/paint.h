#pragma once
#include <cairo.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "images/image.h"

/// Drawing for the synthetic data set, on top of cairo: points, colours and the few kinds of shapes that creatures and
/// scenes are made of.
namespace protocom::synthetic {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double radians(double degrees) { return degrees * kPi / 180.0; }

/// A point or a displacement; x to the right, y down, angles clockwise from x.
struct Vec {
  double x = 0.0;
  double y = 0.0;
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
inline Vec operator*(Vec a, double s) { return {a.x * s, a.y * s}; }
inline Vec polar(double angle, double length) { return {std::cos(angle) * length, std::sin(angle) * length}; }
inline Vec lerp(Vec a, Vec b, double t) { return a + (b - a) * t; }
inline double lerp(double a, double b, double t) { return a + (b - a) * t; }

/// sRGB, each in [0, 1].
struct Colour {
  double r = 0.0;
  double g = 0.0;
  double b = 0.0;
};

/// Colour mixed into shadows and lines.
constexpr Colour kNight = {0.08, 0.08, 0.18};
Colour mix(Colour a, Colour b, double t);
/// Converts from OKLCH (Ottosson 2020), where equal steps look equal; clips colours outside sRGB.
Colour oklch(double lightness, double chroma, double hue_degrees);

/// Width of a ribbon at t in [0, 1] along its spine.
using Profile = std::function<double(double)>;
/// Returns a linear profile from `root` to `tip`.
Profile taper(double root, double tip);
/// Returns a profile that is zero at both ends and `width` near `peak`.
Profile leaf(double width, double peak);

/// Returns points along the smooth (Catmull-Rom) curve through `knots`.
std::vector<Vec> smooth(const std::vector<Vec>& knots, int points_per_knot);

/// Adds paths to a cairo context and paints them in the style of all creatures: shaded from the light, with a dark
/// outline.
class Brush {
 public:
  explicit Brush(cairo_t* context) : cairo_(context) {}

  Brush& polygon(const std::vector<Vec>& points);
  /// Adds a closed smooth curve through the points.
  Brush& blob(const std::vector<Vec>& points);
  Brush& ellipse(Vec center, double rx, double ry, double angle = 0.0);
  Brush& circle(Vec center, double radius) { return ellipse(center, radius, radius); }
  /// Adds a band around a smooth spine; `width` is its half-width.
  Brush& ribbon(const std::vector<Vec>& knots, const Profile& width);
  /// Adds an open smooth line through the points, for `ink`.
  Brush& line(const std::vector<Vec>& knots);

  /// Fills the path with light from above, then outlines it.
  void paint(Colour colour);
  /// Fills the path flat, without outline.
  void wash(Colour colour, double alpha = 1.0);
  /// Strokes the path.
  void ink(Colour colour, double width);
  /// Runs `draw` clipped to the current path.
  void inside(const std::function<void()>& draw);

  [[nodiscard]] cairo_t* cairo() const { return cairo_; }

 private:
  cairo_t* cairo_;
};

struct SurfaceDeleter {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct ContextDeleter {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, SurfaceDeleter>;
using Context = std::unique_ptr<cairo_t, ContextDeleter>;

/// Returns a transparent picture of height x width pixels. Throws Error when cairo cannot make it.
Surface make_surface(int64_t height, int64_t width);
/// Returns a context that draws on `surface`.
Context make_context(cairo_surface_t* surface);

/// Returns an opaque surface as an image, averaging every `factor` x `factor` pixels.
Image shrink(cairo_surface_t* surface, int64_t factor);

/// Draws `layer` onto `target` of the same size through a mild perspective: the corners' depth differs by `tilt`
/// (fractions, |.| < 0.4).
void composite_in_perspective(cairo_surface_t* target, cairo_surface_t* layer, Vec tilt);

}  // namespace protocom::synthetic
