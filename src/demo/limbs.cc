
#include "demo/detail/creature.h"

// Legs, tails, wings and fins.
namespace protocom::synthetic {
void Creature::walking_leg(Vec hip, double swing, Colour colour, double width) {
  const double foot_y = body_at(90).y + leg_;
  const Vec foot = {hip.x + swing * 0.16, foot_y};
  const Vec knee = lerp(hip, foot, 0.52) + Vec{-0.03 + swing * 0.05, 0.0};
  brush_.ellipse(foot + Vec{width * 0.75, -0.01}, width * 1.55, width * 0.85);
  brush_.paint(mix(colour, figure_.palette.second, 0.55));
  brush_.ribbon({hip, knee, foot + Vec{0, -0.02}}, taper(width * 1.35, width * 0.8));
  brush_.paint(colour);
}

void Creature::legs(double side) {
  const Colour colour = side < 0 ? far(figure_.palette.coat) : figure_.palette.coat;
  const double width = 0.066 * size(Trait::kLegWidth, 0.18);
  const double swing = std::sin(figure_.pose.stride) * side;
  const double y = half_.y * 0.55;
  if (has(Part::kTwoLegs)) {
    walking_leg({half_.x * (side < 0 ? 0.42 : -0.22), y}, swing * 0.8, colour, width * 1.1);
  } else if (has(Part::kFourLegs)) {
    const double shift = side < 0 ? 0.12 : 0.0;
    walking_leg({half_.x * (-0.72 + shift), y}, -swing, colour, width);
    walking_leg({half_.x * (0.52 + shift), y}, swing, colour, width);
  } else if (has(Part::kManyLegs)) {
    spider_legs(side);
  } else if (has(Part::kTentacles)) {
    tentacles(side);
  }
}

void Creature::spider_legs(double side) {
  const Colour colour = mix(side < 0 ? far(figure_.palette.coat) : figure_.palette.coat, kNight, 0.3);
  const double width = 0.03 * size(Trait::kLegWidth, 0.18);
  for (int i = 0; i < 4; ++i) {
    const double x = (i - 1.5) / 1.5;
    const double sway = 0.05 * std::sin(figure_.pose.stride + i * 1.7) * side;
    const Vec hip = {half_.x * 0.62 * x + (side < 0 ? 0.05 : 0.0), half_.y * (side < 0 ? 0.3 : 0.62)};
    const Vec knee = hip + Vec{0.26 * x + sway, side < 0 ? -0.02 : 0.02};
    const Vec foot = {hip.x + 0.44 * x + sway * 2, body_at(90).y + leg_ * 0.92 - (side < 0 ? 0.05 : 0.0)};
    brush_.ribbon({hip, knee, lerp(knee, foot, 0.5) + Vec{0.05 * x, 0}, foot}, taper(width * 1.25, width * 0.5));
    brush_.paint(colour);
  }
}

void Creature::tentacles(double side) {
  const Colour colour = mix(side < 0 ? far(figure_.palette.coat) : figure_.palette.coat, figure_.palette.second, 0.3);
  const double width = 0.075 * size(Trait::kLegWidth, 0.15);
  for (int i = 0; i < 3; ++i) {
    const double x = (i - 1) * 0.62 + (side < 0 ? 0.28 : -0.04);
    const Vec root = {half_.x * x, half_.y * 0.6};
    const double length = leg_ * 1.6;
    const double phase = figure_.pose.stride + i * 2.1 + side;
    std::vector<Vec> spine;
    for (int k = 0; k <= 4; ++k) {
      const double t = k / 4.0;
      spine.push_back(root + Vec{0.14 * t * x + 0.11 * t * std::sin(phase + 4.2 * t), length * t});
    }
    brush_.ribbon(spine, taper(width, width * 0.28));
    brush_.paint(colour);
    for (int k = 1; k <= 3; ++k) {
      brush_.circle(spine[static_cast<size_t>(k)], width * (0.42 - 0.07 * k));
      brush_.wash(mix(colour, {1, 0.95, 0.9}, 0.6));
    }
  }
}

void Creature::tail() {
  const Palette& p = figure_.palette;
  const double s = size(Trait::kTailSize, 0.16);
  const Vec root = body_at(has(Part::kPearBody) ? 152 : 186, 0.86);
  const double angle = kPi + 0.55 + figure_.pose.tail;
  const auto at = [&](double along, double across) {
    return root + polar(angle, along * s) + polar(angle + kPi / 2, across * s);
  };
  if (has(Part::kLongTail)) {
    brush_.ribbon({at(0, 0), at(0.25, -0.06), at(0.5, 0.07), at(0.78, 0.0), at(0.92, 0.12)}, taper(0.055, 0.028));
    brush_.paint(p.coat);
    brush_.ribbon({at(0.84, 0.06), at(0.97, 0.14), at(1.06, 0.3)}, leaf(0.085, 0.5));
    brush_.paint(p.second);
  } else if (has(Part::kBushyTail)) {
    const std::vector<Vec> spine = {at(0, 0), at(0.2, -0.05), at(0.48, 0.02), at(0.7, 0.2)};
    brush_.ribbon(spine, leaf(0.19 * s, 0.6));
    brush_.paint(p.coat);
    brush_.ribbon(spine, leaf(0.19 * s, 0.6));
    brush_.inside([&] {
      brush_.polygon({at(0.46, -0.4), at(0.56, -0.12), at(0.5, -0.02), at(0.6, 0.07), at(0.5, 0.16), at(0.56, 0.28),
                      at(0.42, 0.5), at(1.1, 0.6), at(1.1, -0.5)});
      brush_.wash(p.belly);
    });
    brush_.ribbon(spine, leaf(0.19 * s, 0.6));
    brush_.ink(mix(p.coat, kNight, 0.7), 0.022);
  } else if (has(Part::kCurlyTail)) {
    std::vector<Vec> spiral = {at(0, 0), at(0.14, 0.02)};
    for (int i = 0; i <= 9; ++i) {
      const double t = i / 9.0;
      const Vec v = polar(2.5 - 8.2 * t, lerp(0.235, 0.07, t));
      spiral.push_back(at(0.42 + v.x, v.y));
    }
    brush_.ribbon(spiral, taper(0.058, 0.034));
    brush_.paint(mix(p.coat, p.second, 0.35));
  } else if (has(Part::kForkedTail)) {
    brush_.ribbon({at(0, 0), at(0.22, -0.02), at(0.45, 0.03)}, taper(0.1, 0.06));
    brush_.paint(p.coat);
    for (const double side : {-1.0, 1.0}) {
      brush_.ribbon({at(0.38, 0), at(0.58, side * 0.12), at(0.8, side * 0.34)}, leaf(0.1 * s, 0.4));
      brush_.paint(p.second);
    }
  } else if (has(Part::kFanTail)) {
    for (int i = 0; i < 7; ++i) {
      const double spread = radians(-66.0 + 22.0 * (i % 2 == 0 ? i / 2 : 6 - i / 2));
      const Vec tip = root + polar(angle + 0.25 + spread, 0.66 * s);
      brush_.ribbon({root, lerp(root, tip, 0.5), tip}, leaf(0.095 * s, 0.72));
      brush_.paint(i % 2 == 0 ? p.second : mix(p.second, p.coat, 0.5));
      brush_.circle(lerp(root, tip, 0.8), 0.045 * s);
      brush_.wash(p.bill);
      brush_.circle(lerp(root, tip, 0.8), 0.022 * s);
      brush_.wash({0.1, 0.1, 0.25});
    }
  }
}

void Creature::wing(double side) {
  const double length = 0.8 * size(Trait::kWingSize, 0.14);
  const Vec root = {half_.x * (side < 0 ? 0.3 : 0.1), -half_.y * 0.45};
  const double angle = radians(side < 0 ? -72 : -104) - figure_.pose.wing * (side < 0 ? 0.7 : 1.0);
  if (has(Part::kFeatheredWings)) feathered_wing(root, angle, length, side);
  if (has(Part::kBatWings)) bat_wing(root, angle, length, side);
  if (has(Part::kInsectWings)) insect_wing(root, angle, length, side);
}

void Creature::feathered_wing(Vec root, double angle, double length, double side) {
  const Colour base = mix(figure_.palette.second, {1, 1, 1}, 0.15);
  const Colour colour = side < 0 ? far(base) : base;
  for (int i = 5; i >= 0; --i) {
    const double turn = angle - radians(17.0 * i);
    const double reach = length * (1.12 - 0.1 * i);
    brush_.ribbon({root, root + polar(turn + 0.1, reach * 0.55), root + polar(turn - 0.06, reach)}, leaf(0.105, 0.7));
    brush_.paint(mix(colour, figure_.palette.coat, 0.12 * (5 - i)));
  }
  for (int i = 3; i >= 0; --i) {
    const double turn = angle - radians(2.0 + 24.0 * i);
    brush_.ribbon({root, root + polar(turn, length * 0.3), root + polar(turn - 0.05, length * 0.56)},
                  leaf(0.085, 0.62));
    brush_.paint(mix(colour, {1, 1, 1}, 0.35));
  }
}

void Creature::bat_wing(Vec root, double angle, double length, double side) {
  const Colour skin = mix(figure_.palette.second, kNight, side < 0 ? 0.5 : 0.3);
  std::vector<Vec> tips;
  for (int i = 0; i < 4; ++i) tips.push_back(root + polar(angle - radians(29.0 * i), length * (1.08 - 0.13 * i)));
  const Vec heel = root + Vec{-0.16, 0.14};
  cairo_t* cr = brush_.cairo();
  cairo_move_to(cr, root.x + 0.08, root.y + 0.05);
  const Vec wrist = root + polar(angle + 0.28, length * 0.62);
  cairo_curve_to(cr, wrist.x, wrist.y, wrist.x, wrist.y, tips[0].x, tips[0].y);
  for (size_t i = 0; i < 4; ++i) {
    const Vec from = tips[i];
    const Vec to = i < 3 ? tips[i + 1] : heel;
    const Vec dip = lerp(lerp(from, to, 0.5), root, 0.42);
    cairo_curve_to(cr, dip.x, dip.y, dip.x, dip.y, to.x, to.y);
  }
  cairo_close_path(cr);
  brush_.paint(skin);
  for (const Vec& tip : tips) {
    brush_.ribbon({root, lerp(root, tip, 0.5) + Vec{0.015, -0.015}, tip}, taper(0.026, 0.008));
    brush_.wash(mix(skin, kNight, 0.55));
  }
}

void Creature::insect_wing(Vec root, double angle, double length, double side) {
  const Colour glass = mix({0.8, 0.93, 1.0}, figure_.palette.second, 0.2);
  for (const double lower : {1.0, 0.0}) {
    const double turn = angle - lower * radians(58);
    const double reach = length * (1.0 - 0.28 * lower);
    const Vec tip = root + polar(turn, reach);
    const std::vector<Vec> spine = {root, lerp(root, tip, 0.5), tip};
    brush_.ribbon(spine, leaf(0.19 * length / 0.74, 0.66)).wash(glass, side < 0 ? 0.55 : 0.72);
    brush_.ribbon(spine, leaf(0.19 * length / 0.74, 0.66)).ink({0.22, 0.3, 0.45}, 0.02);
    for (const double vein : {-0.16, 0.0, 0.16}) {
      brush_.line({root, root + polar(turn + vein * 0.6, reach * 0.5), root + polar(turn + vein, reach * 0.88)});
      brush_.ink({0.35, 0.45, 0.6}, 0.009);
    }
  }
}

void Creature::side_fin() {
  if (!has(Part::kSideFins)) return;
  const Vec root = {half_.x * 0.12, half_.y * 0.3};
  const double angle = radians(128) + figure_.pose.wing * 0.5;
  std::vector<Vec> edge = {root + Vec{0.06, -0.08}};
  for (int i = 0; i < 5; ++i) {
    edge.push_back(root + polar(angle + radians(17.0 * (i - 2)), 0.45 - 0.025 * std::abs(i - 2)));
    if (i < 4) edge.push_back(root + polar(angle + radians(17.0 * (i - 1.5)), 0.37));
  }
  edge.push_back(root + Vec{-0.08, 0.04});
  const Colour colour = mix(figure_.palette.second, figure_.palette.bill, 0.35);
  brush_.blob(edge);
  brush_.paint(colour);
  for (int i = 0; i < 5; ++i) {
    brush_.line({root, root + polar(angle + radians(15.0 * (i - 2)), 0.36)});
    brush_.ink(mix(colour, kNight, 0.4), 0.013);
  }
}

}  // namespace protocom::synthetic
