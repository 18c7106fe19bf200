
#include "demo/detail/creature.h"

// Covers of a body: shells, spikes, and the coat's pattern.
namespace protocom::synthetic {
void Creature::back_behind() {
  const double s = size(Trait::kBackSize, 0.16);
  const Palette& p = figure_.palette;
  if (has(Part::kBackSpikes)) {
    for (int i = 0; i < 7; ++i) {
      const double degrees = -168.0 + 21.0 * i;
      const double height = 1.0 + (0.36 + 0.14 * std::sin(kPi * (i + 0.5) / 7)) * s * 0.37 / half_.y;
      brush_.polygon({body_at(degrees - 11, 0.94), body_at(degrees - 4, height), body_at(degrees + 11, 0.94)});
      brush_.paint(p.bone);
    }
  } else if (has(Part::kBackFin)) {
    std::vector<Vec> sail = {body_at(-165, 0.9)};
    for (int i = 0; i < 6; ++i) {
      const double degrees = -152.0 + 21.0 * i;
      const double rise = 0.44 * s * std::sin(kPi * (i + 0.9) / 6.6);
      sail.push_back(body_at(degrees) + Vec{-0.04, -rise});
    }
    sail.push_back(body_at(-35, 0.9));
    const Colour colour = mix(p.second, p.bill, 0.4);
    brush_.blob(sail);
    brush_.paint(colour);
    for (int i = 0; i < 6; ++i) {
      brush_.line({body_at(-150.0 + 20.0 * i, 0.9), sail[static_cast<size_t>(i) + 1]});
      brush_.ink(mix(colour, kNight, 0.45), 0.016);
    }
  } else if (has(Part::kHumps)) {
    // The back of an upright body is behind it, not on top.
    const double turn = has(Part::kPearBody) ? -62.0 : 0.0;
    for (const double degrees : {-128.0 + turn, -72.0 + turn}) {
      const Vec out = polar(radians(turn - 90.0), 0.12 * s);
      brush_.ellipse(body_at(degrees, 0.8) + out, 0.17 * s, 0.27 * s, radians(turn));
      brush_.paint(p.coat);
    }
  }
}

void Creature::shell() {
  if (!has(Part::kShell)) return;
  const double s = 1.16 * size(Trait::kBackSize, 0.06);
  const Colour colour = mix(figure_.palette.mark, figure_.palette.bone, 0.42);
  std::vector<Vec> dome;
  for (int i = 0; i <= 8; ++i) dome.push_back(body_at(-182.0 + 19.5 * i, s));
  dome.push_back(body_at(0, 0.4) + Vec{0.0, half_.y * 0.26});
  dome.push_back(Vec{-half_.x * 0.3, half_.y * 0.4});
  const auto path = [&] { brush_.blob(dome); };
  path();
  brush_.paint(colour);
  path();
  brush_.inside([&] {
    const double cell = 0.155;
    for (int row = -5; row <= 3; ++row) {
      for (int column = -6; column <= 6; ++column) {
        const Vec at = {(column + 0.5 * (row & 1)) * cell * 1.08 - 0.05, row * cell * 0.92};
        std::vector<Vec> hexagon;
        for (int k = 0; k < 6; ++k) hexagon.push_back(at + polar(radians(60.0 * k + 30.0), cell * 0.5));
        brush_.polygon(hexagon);
        brush_.wash(mix(colour, {1, 0.96, 0.8}, 0.3));
        brush_.polygon(hexagon);
        brush_.ink(mix(colour, kNight, 0.6), 0.018);
      }
    }
  });
  path();
  brush_.ink(mix(colour, kNight, 0.75), 0.032);
}

void Creature::coat() {
  if (has(Part::kPaleBelly)) {
    brush_.ellipse({half_.x * 0.12, half_.y * 0.66}, half_.x * 0.86, half_.y * 0.66);
    brush_.wash(figure_.palette.belly);
  }
  if (has(Part::kStripes)) stripes();
  if (has(Part::kSpots)) spots();
  if (has(Part::kScales)) scales();
  if (has(Part::kPatches)) patches();
}

void Creature::stripes() {
  const double gap = 0.17 * size(Trait::kCoatScale, 0.2);
  const double slant = 0.1 * trait(Trait::kBend);
  const double shift = rng_.uniform(0.0, gap);
  for (double x = -half_.x * 1.3 + shift; x < half_.x * 1.3; x += gap) {
    const double wobble = 0.03 * rng_.normal();
    brush_.ribbon({{x - slant, -half_.y * 1.4},
                   {x + wobble, -0.1 * half_.y},
                   {x - 0.05 + slant, half_.y * rng_.uniform(0.5, 0.9)}},
                  taper(gap * 0.3, gap * 0.06));
    brush_.wash(figure_.palette.mark);
  }
}

void Creature::spots() {
  const double radius = 0.062 * size(Trait::kCoatScale, 0.22);
  const double gap = radius * 3.0;
  int row = 0;
  for (double y = -half_.y * 1.3; y < half_.y * 1.4; y += gap * 0.86, ++row) {
    for (double x = -half_.x * 1.3; x < half_.x * 1.3; x += gap) {
      const Vec at = {x + 0.5 * gap * (row % 2) + 0.16 * gap * rng_.normal(), y + 0.16 * gap * rng_.normal()};
      brush_.circle(at, radius * rng_.uniform(0.75, 1.2));
      brush_.wash(figure_.palette.mark);
    }
  }
}

void Creature::scales() {
  const double r = 0.1 * size(Trait::kCoatScale, 0.16);
  int row = 0;
  for (double y = half_.y * 1.5; y > -half_.y * 1.6; y -= r * 0.8, ++row) {
    for (double x = -half_.x * 1.3 - r * (row % 2); x < half_.x * 1.3; x += r * 2) {
      const Colour tint = mix(figure_.palette.coat, row % 2 == 0 ? figure_.palette.second : figure_.palette.coat, 0.45);
      brush_.circle({x, y}, r);
      brush_.wash(tint);
      brush_.circle({x, y}, r);
      brush_.ink(mix(figure_.palette.mark, kNight, 0.2), 0.02);
    }
  }
}

void Creature::patches() {
  for (int i = 0; i < 5; ++i) {
    const Vec at = {half_.x * (-0.8 + 0.42 * i + 0.1 * rng_.normal()),
                    half_.y * (i % 2 == 0 ? -0.45 : 0.35) + 0.04 * rng_.normal()};
    std::vector<Vec> edge;
    for (int k = 0; k < 8; ++k) {
      edge.push_back(at + polar(radians(45.0 * k), 0.17 * size(Trait::kCoatScale, 0.15) * rng_.uniform(0.65, 1.2)));
    }
    brush_.blob(edge);
    brush_.wash(i % 2 == 0 ? figure_.palette.belly : mix(figure_.palette.mark, kNight, 0.2));
  }
}

void Creature::coat_on_head() {
  const Palette& p = figure_.palette;
  if (has(Part::kPaleBelly)) {
    brush_.ellipse(head_at(0.45, 0.62), head_radius_ * 0.75, head_radius_ * 0.5, head_angle_);
    brush_.wash(p.belly);
  }
  if (has(Part::kStripes)) {
    for (const double x : {-0.75, -0.42, -0.1, 0.22}) {
      brush_.ribbon({head_at(x, -1.1), head_at(x - 0.03, -0.6)}, taper(head_radius_ * 0.1, head_radius_ * 0.03));
      brush_.wash(p.mark);
    }
  }
  if (has(Part::kSpots)) {
    for (const Vec v : {Vec{-0.6, 0.35}, Vec{-0.35, 0.65}, Vec{-0.7, -0.2}, Vec{-0.35, -0.68}, Vec{0.12, -0.82}}) {
      brush_.circle(head_at(v.x, v.y), head_radius_ * 0.13);
      brush_.wash(p.mark);
    }
  }
  if (has(Part::kPatches)) {
    brush_.ellipse(head_at(-0.2, -0.25), head_radius_ * 0.5, head_radius_ * 0.55, head_angle_);
    brush_.wash(mix(p.mark, kNight, 0.2));
  }
}

}  // namespace protocom::synthetic
