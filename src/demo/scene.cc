#include "demo/detail/scene.h"

#include <array>
#include <memory>

namespace protocom::synthetic {
namespace {

double wander(Rng& rng, double value, double spread) { return value + rng.uniform(-spread, spread); }

void gradient(Brush& brush, Colour top, Colour bottom) {
  std::unique_ptr<cairo_pattern_t, decltype(&cairo_pattern_destroy)> shade(cairo_pattern_create_linear(0, 0, 0.1, 1),
                                                                           &cairo_pattern_destroy);
  cairo_pattern_add_color_stop_rgb(shade.get(), 0, top.r, top.g, top.b);
  cairo_pattern_add_color_stop_rgb(shade.get(), 1, bottom.r, bottom.g, bottom.b);
  cairo_set_source(brush.cairo(), shade.get());
  cairo_paint(brush.cairo());
}

// Scenery is flat and without outlines: anything with an outline is an animal.
void boulder(Brush& brush, Rng& rng, Vec at, double radius, Colour colour) {
  std::vector<Vec> edge;
  for (int i = 0; i < 9; ++i) edge.push_back(at + polar(radians(40.0 * i), radius * rng.uniform(0.72, 1.1)));
  brush.polygon(edge).wash(mix(colour, kNight, 0.25));
  for (Vec& p : edge) p = lerp(at, p, 0.82) + Vec{-0.1 * radius, -0.13 * radius};
  brush.polygon(edge).wash(colour);
  brush.polygon({edge[4], edge[5], edge[6], lerp(at, edge[5], 0.3)}).wash(mix(colour, {1, 1, 0.95}, 0.25));
}

void tuft(Brush& brush, Rng& rng, Vec at, double height, Colour colour) {
  for (int i = 0; i < 9; ++i) {
    const double lean = rng.uniform(-0.5, 0.5);
    const Vec tip = at + Vec{lean * height, -height * rng.uniform(0.6, 1.0)};
    const Vec root = at + Vec{rng.uniform(-0.25, 0.25) * height, 0.02};
    brush.ribbon({root, lerp(root, tip, 0.5) + Vec{-lean * 0.1 * height, 0}, tip},
                 taper(height * 0.055, height * 0.008));
    brush.wash(mix(colour, i % 2 == 0 ? Colour{1, 1, 0.7} : kNight, rng.uniform(0.0, 0.25)));
  }
}

void one_leaf(Brush& brush, Vec root, double angle, double length, Colour colour) {
  const Vec tip = root + polar(angle, length);
  brush.ribbon({root, lerp(root, tip, 0.5) + polar(angle + kPi / 2, length * 0.06), tip}, leaf(length * 0.24, 0.45));
  brush.wash(colour);
  brush.line({root, tip}).ink(mix(colour, {1, 1, 0.8}, 0.3), length * 0.03);
}

void foliage(Brush& brush, Rng& rng, Vec at, double radius, Colour colour) {
  for (int i = 0; i < 22; ++i) {
    const Vec p = at + polar(rng.uniform(0, 2 * kPi), radius * std::sqrt(rng.uniform()));
    brush.ellipse(p, radius * rng.uniform(0.16, 0.34), radius * rng.uniform(0.12, 0.26), rng.uniform(0, kPi));
    brush.wash(mix(colour, i % 2 == 0 ? Colour{0.98, 1.0, 0.7} : kNight, rng.uniform(0.0, 0.3)));
  }
}

void hills(Brush& brush, Rng& rng, double level, double height, Colour colour) {
  std::vector<Vec> ridge = {{-0.2, 1.2}, {-0.2, level}};
  for (int i = 0; i <= 5; ++i) ridge.push_back({i / 5.0, level - height * rng.uniform()});
  ridge.push_back({1.2, level});
  ridge.push_back({1.2, 1.2});
  brush.blob(ridge).wash(colour);
}

void trunk(Brush& brush, Rng& rng, double x, double width, Colour colour) {
  const double lean = rng.uniform(-0.06, 0.06);
  brush.ribbon({{x, 1.1}, {x + lean * 0.5, 0.5}, {x + lean, -0.1}}, taper(width, width * 0.75)).wash(colour);
  brush.ribbon({{x - width * 0.4, 1.1}, {x - width * 0.4 + lean, -0.1}}, taper(width * 0.3, width * 0.2));
  brush.wash(mix(colour, {1, 0.95, 0.8}, 0.16));
}

void meadow(Brush& brush, Rng& rng) {
  const double hue = wander(rng, 130, 20);
  gradient(brush, oklch(0.78, 0.08, wander(rng, 235, 25)), oklch(0.95, 0.04, wander(rng, 90, 60)));
  if (rng.uniform() < 0.5) brush.circle({rng.uniform(), rng.uniform(0, 0.35)}, 0.09).wash({1.0, 0.95, 0.7}, 0.9);
  const double level = rng.uniform(0.45, 0.7);
  hills(brush, rng, level, 0.2, oklch(0.7, 0.08, hue + 20));
  hills(brush, rng, level + 0.12, 0.12, oklch(0.62, 0.11, hue));
  for (int i = 0; i < 12; ++i) {
    const double y = rng.uniform(level + 0.1, 1.0);
    tuft(brush, rng, {rng.uniform(), y}, 0.05 + 0.1 * y * rng.uniform(), oklch(0.52, 0.12, hue));
  }
  for (int i = 0; i < 14; ++i) {
    brush.circle({rng.uniform(), rng.uniform(level + 0.15, 1)}, 0.014).wash(oklch(0.85, 0.13, rng.uniform(0, 120)));
  }
}

void forest(Brush& brush, Rng& rng) {
  const double hue = wander(rng, 140, 25);
  gradient(brush, oklch(wander(rng, 0.5, 0.12), 0.08, hue), oklch(0.3, 0.06, hue));
  for (int i = 0; i < 5; ++i)
    trunk(brush, rng, rng.uniform(), rng.uniform(0.02, 0.06), oklch(wander(rng, 0.4, 0.1), 0.04, 60));
  for (int i = 0; i < 8; ++i) {
    foliage(brush, rng, {rng.uniform(), rng.uniform(0, 0.9)}, rng.uniform(0.08, 0.2),
            oklch(wander(rng, 0.48, 0.12), 0.1, wander(rng, hue, 15)));
  }
}

void desert(Brush& brush, Rng& rng) {
  const double hue = wander(rng, 65, 20);
  gradient(brush, oklch(0.85, 0.06, wander(rng, 230, 30)), oklch(0.93, 0.05, hue));
  hills(brush, rng, 0.6, 0.3, oklch(0.68, 0.09, hue - 20));
  hills(brush, rng, 0.75, 0.12, oklch(0.8, 0.08, hue));
  for (int i = 0; i < 8; ++i) {
    const double y = rng.uniform(0.62, 1.0);
    boulder(brush, rng, {rng.uniform(), y}, rng.uniform(0.02, 0.14) * y,
            oklch(wander(rng, 0.6, 0.1), 0.04, wander(rng, hue, 20)));
  }
}

void water(Brush& brush, Rng& rng) {
  const double hue = wander(rng, 215, 25);
  gradient(brush, oklch(wander(rng, 0.78, 0.06), 0.1, hue), oklch(wander(rng, 0.42, 0.08), 0.1, hue + 20));
  for (int i = 0; i < 4; ++i) {
    const double x = rng.uniform(-0.2, 1);
    brush.polygon({{x, -0.1}, {x + 0.12, -0.1}, {x + 0.42, 1.1}, {x + 0.12, 1.1}}).wash({1, 1, 1}, 0.09);
  }
  hills(brush, rng, 0.92, 0.1, oklch(0.72, 0.06, 90));
  for (int i = 0; i < 7; ++i) {
    const double x = rng.uniform();
    const double h = rng.uniform(0.2, 0.6);
    brush.ribbon({{x, 1.02}, {x + 0.03, 1 - h * 0.35}, {x - 0.03, 1 - h * 0.7}, {x + 0.02, 1 - h}}, leaf(0.026, 0.4));
    brush.wash(oklch(0.5, 0.1, wander(rng, 150, 30)));
  }
  for (int i = 0; i < 16; ++i)
    brush.circle({rng.uniform(), rng.uniform()}, rng.uniform(0.006, 0.026)).ink({0.9, 0.97, 1.0}, 0.006);
}

void night(Brush& brush, Rng& rng) {
  const double hue = wander(rng, 275, 30);
  gradient(brush, oklch(0.24, 0.08, hue), oklch(0.48, 0.1, hue - 20));
  for (int i = 0; i < 30; ++i)
    brush.circle({rng.uniform(), rng.uniform(0, 0.8)}, rng.uniform(0.003, 0.009)).wash({1, 1, 0.9});
  brush.circle({rng.uniform(0.1, 0.9), rng.uniform(0.08, 0.35)}, rng.uniform(0.05, 0.12)).wash({0.98, 0.96, 0.82});
  hills(brush, rng, 0.68, 0.2, oklch(0.34, 0.06, hue - 40));
  hills(brush, rng, 0.85, 0.1, oklch(0.26, 0.05, hue - 60));
  for (int i = 0; i < 5; ++i)
    foliage(brush, rng, {rng.uniform(), rng.uniform(0.7, 1)}, 0.1, oklch(0.3, 0.06, wander(rng, 160, 30)));
}

void snow(Brush& brush, Rng& rng) {
  gradient(brush, oklch(0.82, 0.04, wander(rng, 250, 30)), oklch(0.95, 0.015, 240));
  for (int i = 0; i < 7; ++i) {
    const Vec foot = {rng.uniform(), rng.uniform(0.55, 0.8)};
    const double h = rng.uniform(0.15, 0.35);
    for (int k = 0; k < 3; ++k) {
      const double y = foot.y - h * 0.28 * k;
      const double w = h * (0.36 - 0.08 * k);
      brush.polygon({{foot.x - w, y}, {foot.x + w, y}, {foot.x, y - h * 0.5}}).wash(oklch(0.46 + 0.05 * k, 0.05, 170));
    }
  }
  hills(brush, rng, 0.78, 0.12, oklch(0.93, 0.015, 230));
  for (int i = 0; i < 40; ++i)
    brush.circle({rng.uniform(), rng.uniform()}, rng.uniform(0.004, 0.012)).wash({1, 1, 1}, 0.9);
}

void autumn(Brush& brush, Rng& rng) {
  gradient(brush, oklch(0.88, 0.06, wander(rng, 80, 30)), oklch(0.58, 0.1, wander(rng, 55, 15)));
  for (int i = 0; i < 4; ++i) trunk(brush, rng, rng.uniform(), rng.uniform(0.02, 0.05), oklch(0.4, 0.04, 50));
  for (int i = 0; i < 6; ++i) {
    foliage(brush, rng, {rng.uniform(), rng.uniform(0, 0.5)}, rng.uniform(0.1, 0.2),
            oklch(wander(rng, 0.65, 0.1), 0.14, rng.uniform(30, 95)));
  }
  for (int i = 0; i < 30; ++i) {
    const Colour colour = oklch(wander(rng, 0.6, 0.12), 0.14, rng.uniform(25, 95));
    one_leaf(brush, {rng.uniform(), rng.uniform(0.65, 1.0)}, rng.uniform(0, 2 * kPi), rng.uniform(0.04, 0.09), colour);
  }
}

void bokeh(Brush& brush, Rng& rng) {
  const double hue = rng.uniform(0, 360);
  gradient(brush, oklch(rng.uniform(0.3, 0.9), 0.07, hue),
           oklch(rng.uniform(0.3, 0.9), 0.07, hue + rng.uniform(-90, 90)));
  for (int i = 0; i < 26; ++i) {
    const Colour colour = oklch(rng.uniform(0.4, 0.95), 0.1, hue + rng.uniform(-120, 120));
    brush.circle({rng.uniform(), rng.uniform()}, rng.uniform(0.03, 0.16)).wash(colour, rng.uniform(0.2, 0.5));
  }
}

void branch(Brush& brush, Rng& rng, Colour colour) {
  const bool left = rng.uniform() < 0.5;
  const double y = rng.uniform(-0.05, 0.5);
  const Vec root = {left ? -0.05 : 1.05, y};
  const Vec tip = {left ? rng.uniform(0.25, 0.5) : rng.uniform(0.5, 0.75), y + rng.uniform(-0.05, 0.3)};
  brush.ribbon({root, lerp(root, tip, 0.5) + Vec{0, -0.03}, tip}, taper(0.016, 0.006)).wash({0.36, 0.24, 0.15});
  for (int i = 1; i <= 7; ++i) {
    const Vec at = lerp(root, tip, i / 7.0);
    const double angle =
        std::atan2(tip.y - root.y, tip.x - root.x) + (i % 2 == 0 ? 0.9 : -0.9) + rng.uniform(-0.3, 0.3);
    one_leaf(brush, at, angle, rng.uniform(0.09, 0.15),
             mix(colour, i % 2 == 0 ? kNight : Colour{1, 1, 0.7}, rng.uniform(0, 0.2)));
  }
}

}  // namespace

void draw_background(Brush& brush, Rng& rng) {
  static constexpr std::array<void (*)(Brush&, Rng&), 8> kScenes = {meadow, forest, desert, water,
                                                                    night,  snow,   autumn, bokeh};
  kScenes[static_cast<size_t>(rng.below(static_cast<int64_t>(kScenes.size())))](brush, rng);
}

void draw_foreground(Brush& brush, Rng& rng) {
  const double draw = rng.uniform();
  const int things = draw < 0.35 ? 0 : draw < 0.8 ? 1 : 2;
  for (int i = 0; i < things; ++i) {
    const Colour green = oklch(wander(rng, 0.5, 0.12), 0.11, wander(rng, 130, 35));
    switch (rng.below(5)) {
      case 0:
        for (int k = 0; k < 4; ++k) tuft(brush, rng, {rng.uniform(), 1.03}, rng.uniform(0.18, 0.42), green);
        break;
      case 1:
        branch(brush, rng, green);
        break;
      case 2:
        boulder(brush, rng, {rng.uniform(), rng.uniform(0.92, 1.05)}, rng.uniform(0.14, 0.28),
                oklch(wander(rng, 0.55, 0.12), 0.03, rng.uniform(0, 360)));
        break;
      case 3:
        trunk(brush, rng, rng.uniform() < 0.5 ? rng.uniform(0.0, 0.25) : rng.uniform(0.75, 1.0),
              rng.uniform(0.04, 0.075), oklch(0.42, 0.05, 55));
        break;
      default:
        foliage(brush, rng, {rng.uniform() < 0.5 ? 0.02 : 0.98, rng.uniform()}, rng.uniform(0.12, 0.22), green);
    }
  }
}

void draw_plate(Brush& brush) {
  gradient(brush, {0.985, 0.972, 0.94}, {0.955, 0.93, 0.88});
  brush.ellipse({0.5, 0.915}, 0.38, 0.042).wash({0.5, 0.42, 0.34}, 0.22);
}

}  // namespace protocom::synthetic
