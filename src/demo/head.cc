#include <algorithm>

#include "demo/detail/creature.h"

// Parts of the head: ears, horns, manes, muzzles.
namespace protocom::synthetic {
namespace {

constexpr Colour kSkin = {0.95, 0.66, 0.64};

}  // namespace

void Creature::mane() {
  if (!has(Part::kMane)) return;
  const double reach = 1.95 * size(Trait::kNeckSize, 0.12);
  for (const double shrink : {1.0, 0.82}) {
    std::vector<Vec> star;
    const int tufts = 13;
    for (int i = 0; i < tufts * 2; ++i) {
      const double radius = (i % 2 == 0 ? reach * (0.93 + 0.1 * rng_.uniform()) : reach * 0.78) * shrink;
      star.push_back(head_polar(360.0 * i / (tufts * 2), radius));
    }
    brush_.blob(star);
    brush_.paint(shrink == 1.0 ? figure_.palette.second : mix(figure_.palette.second, {1, 1, 0.9}, 0.16));
  }
}

void Creature::crest() {
  if (!has(Part::kCrest)) return;
  const double length = 1.5 * size(Trait::kNeckSize, 0.2);
  for (int i = 0; i < 5; ++i) {
    const double degrees = -158.0 + 21.0 * i;
    const double reach = length * (0.72 + 0.12 * i);
    const double curl = 22.0 + 6.0 * figure_.pose.ear;
    brush_.ribbon({head_polar(degrees, 0.7), head_polar(degrees + 3, 0.7 + reach * 0.55),
                   head_polar(degrees - curl, 0.75 + reach)},
                  leaf(head_radius_ * 0.2, 0.72));
    brush_.paint(i % 2 == 0 ? figure_.palette.bill : figure_.palette.second);
  }
}

void Creature::far_ear() {
  if (!has(Part::kFloppyEars)) ear(-58, far(figure_.palette.coat), 0.12);
}

void Creature::near_ear() { ear(has(Part::kFloppyEars) ? -142 : -128, figure_.palette.coat, -0.12); }

void Creature::ear(double degrees, Colour colour, double lean) {
  const double s = size(Trait::kEarSize, 0.14) * head_radius_;
  const double turn = radians(degrees) + head_angle_ + figure_.pose.ear * 0.5 + lean;
  const Vec root = head_polar(degrees, 0.78);
  const Vec along = polar(turn, s);
  const Vec across = polar(turn + kPi / 2, s);
  const Colour inner = mix(colour, kSkin, 0.65);
  if (has(Part::kPointedEars)) {
    for (const double k : {1.0, 0.58}) {
      const Vec base = root + along * (k == 1.0 ? 0.0 : 0.12);
      brush_.polygon(smooth(
          {base - across * (0.5 * k), base + along * (0.75 * k) - across * (0.36 * k), base + along * (1.35 * k)}, 6));
      brush_.polygon({base - across * (0.5 * k), base + along * (1.35 * k), base + across * (0.5 * k)});
      k == 1.0 ? brush_.paint(colour) : brush_.wash(inner);
    }
  } else if (has(Part::kRoundEars)) {
    brush_.circle(root + along * 0.34, s * 0.62);
    brush_.paint(colour);
    brush_.circle(root + along * 0.36, s * 0.38);
    brush_.wash(inner);
  } else if (has(Part::kLongEars)) {
    const Vec bend = across * (0.35 * figure_.pose.ear);
    brush_.ribbon({root, root + along * 1.1, root + along * 2.2 + bend}, leaf(s * 0.36, 0.55));
    brush_.paint(colour);
    brush_.ribbon({root + along * 0.25, root + along * 1.1, root + along * 1.9 + bend}, leaf(s * 0.18, 0.55));
    brush_.wash(inner);
  } else if (has(Part::kFloppyEars)) {
    const Vec over = root + polar(head_angle_ - 2.6, s * 0.42);
    const Vec hang = over + polar(kPi / 2 + 0.35 + head_angle_ * 0.4 + figure_.pose.ear * 0.5, s * 1.55);
    brush_.ribbon({root + polar(head_angle_, s * 0.1), over, lerp(over, hang, 0.5) + Vec{-s * 0.12, 0}, hang},
                  leaf(s * 0.44, 0.68));
    brush_.paint(mix(colour, figure_.palette.second, 0.5));
  }
}

void Creature::antler(double degrees, Colour colour) {
  const double s = 1.0 * size(Trait::kHornSize, 0.14);
  const double w = head_radius_ * 0.14;
  const double side = degrees < -90 ? -1.0 : 1.0;
  const auto at = [&](double out, double up) {
    return head_at(std::cos(radians(degrees)) * 0.7 + side * out * s, -0.75 - up * s);
  };
  const auto tine = [&](Vec from, Vec to) {
    brush_.ribbon({from, lerp(from, to, 0.5) + Vec{side * 0.012, 0.01}, to}, taper(w * 0.85, w * 0.35));
    brush_.paint(colour);
  };
  tine(at(0.33, 0.55), at(0.0 + 0.02, 1.25));
  tine(at(0.62, 0.95), at(0.4, 1.75));
  tine(at(0.5, 0.75), at(1.15, 0.95));
  brush_.ribbon({at(0, -0.1), at(0.28, 0.45), at(0.66, 1.0), at(0.85, 1.7)}, taper(w * 1.25, w * 0.5));
  brush_.paint(colour);
}

void Creature::horns_behind() {
  const double s = size(Trait::kHornSize, 0.15);
  const double r = head_radius_;
  for (const double degrees : {-62.0, -108.0}) {
    const Colour bone = degrees > -90 ? far(figure_.palette.bone) : figure_.palette.bone;
    const double lean = degrees > -90 ? 9.0 : -9.0;
    if (has(Part::kStraightHorns)) {
      const Vec tip = head_polar(degrees + lean, 0.8 + 1.35 * s);
      brush_.ribbon({head_polar(degrees, 0.72), head_polar(degrees + lean * 0.4, 0.8 + 0.7 * s), tip},
                    taper(r * 0.25, r * 0.02));
      brush_.paint(bone);
      for (const double t : {0.25, 0.45}) {
        const Vec at = lerp(head_polar(degrees, 0.8), tip, t);
        const Vec half = polar(radians(degrees) + head_angle_ + kPi / 2, r * 0.24 * (1 - t));
        brush_.line({at - half, at + half});
        brush_.ink(mix(bone, kNight, 0.5), 0.014);
      }
    } else if (has(Part::kAntlers)) {
      antler(degrees, mix(bone, {0.5, 0.3, 0.14}, 0.55));
    } else if (has(Part::kAntennae)) {
      const double sway = figure_.pose.ear * 20.0;
      const Vec tip = head_polar(degrees + lean * 2.6 + sway, 1.05 + 1.15 * s);
      brush_.ribbon({head_polar(degrees, 0.7), head_polar(degrees - lean * 0.4, 0.75 + 0.7 * s), tip},
                    taper(r * 0.085, r * 0.07));
      brush_.paint(mix(figure_.palette.coat, kNight, 0.35));
      brush_.circle(tip, r * 0.25);
      brush_.paint(figure_.palette.bill);
    }
  }
}

void Creature::horns_in_front() {
  if (!has(Part::kCurledHorns)) return;
  const double s = size(Trait::kHornSize, 0.12);
  const Vec hub = {-0.42, -0.22};
  std::vector<Vec> spiral;
  for (int i = 0; i <= 10; ++i) {
    const double t = i / 10.0;
    const Vec v = polar(radians(-62.0 - 400.0 * t), lerp(0.78, 0.2, t) * s);
    spiral.push_back(head_at(hub.x + v.x, hub.y + v.y));
  }
  brush_.ribbon(spiral, taper(head_radius_ * 0.25, head_radius_ * 0.07));
  brush_.paint(figure_.palette.bone);
  for (size_t i = 1; i < 8; ++i) {
    const Vec out = spiral[i] - head_at(hub.x, hub.y);
    const double k =
        head_radius_ * lerp(0.22, 0.1, static_cast<double>(i) / 10) / std::max(1e-6, std::hypot(out.x, out.y));
    brush_.line({spiral[i] - out * k, spiral[i] + out * k});
    brush_.ink(mix(figure_.palette.bone, kNight, 0.45), 0.012);
  }
}

void Creature::muzzle() {
  const double s = size(Trait::kMuzzleSize, 0.14);
  const double r = head_radius_;
  const Palette& p = figure_.palette;
  if (has(Part::kBeak)) {
    brush_.polygon(smooth({head_at(0.55, 0.34), head_at(0.8, 0.62), head_at(0.85 + 0.5 * s, 0.5)}, 5));
    brush_.paint(far(p.bill));
    brush_.blob({head_at(0.5, 0.1), head_at(0.95, -0.14), head_at(0.9 + 0.75 * s, 0.2), head_at(0.95 + 0.75 * s, 0.72),
                 head_at(0.85 + 0.45 * s, 0.44), head_at(0.6, 0.42)});
    brush_.paint(p.bill);
  } else if (has(Part::kBill)) {
    brush_.ribbon({head_at(0.5, 0.42), head_at(1.1, 0.5), head_at(0.95 + 0.95 * s, 0.46)}, taper(r * 0.15, r * 0.2));
    brush_.paint(far(p.bill));
    brush_.ribbon({head_at(0.45, 0.22), head_at(1.05, 0.3), head_at(1.0 + 0.95 * s, 0.14)}, taper(r * 0.22, r * 0.24));
    brush_.paint(p.bill);
  } else if (has(Part::kSnout)) {
    const Colour soft = mix(p.coat, kSkin, 0.45);
    brush_.ribbon({head_at(0.3, 0.3), head_at(0.85, 0.36), head_at(0.85 + 0.55 * s, 0.36)}, taper(r * 0.46, r * 0.36));
    brush_.paint(soft);
    const Vec nose = head_at(1.1 + 0.55 * s, 0.3);
    brush_.ellipse(nose, r * 0.2, r * 0.34, head_angle_);
    brush_.paint(mix(soft, kSkin, 0.5));
    for (const double dy : {-0.13, 0.13}) {
      brush_.circle(nose + Vec{0, dy * r}, r * 0.075);
      brush_.wash({0.25, 0.1, 0.12});
    }
  } else if (has(Part::kTrunk)) {
    const double curl = 0.5 + 0.5 * figure_.pose.gaze;
    brush_.ribbon(
        {head_at(0.4, 0.2), head_at(0.95, 0.35), head_at(1.1, 0.35 + 1.0 * s),
         head_at(1.25 + 0.2 * curl, 0.3 + 1.75 * s), head_at(1.75 + 0.2 * curl, 0.2 + (1.9 - 0.5 * curl) * s)},
        taper(r * 0.36, r * 0.17));
    brush_.paint(p.coat);
    for (int i = 0; i < 4; ++i) {
      const double y = 0.55 + 0.27 * i * s;
      brush_.line({head_at(0.82, y), head_at(1.06, y + 0.07), head_at(1.32, y)});
      brush_.ink(mix(p.coat, kNight, 0.45), 0.012);
    }
  } else {
    brush_.line({head_at(0.25, 0.42), head_at(0.5, 0.55), head_at(0.78, 0.4)});
    brush_.ink({0.15, 0.08, 0.1}, 0.022);
    brush_.ellipse(head_at(0.88, 0.1), r * 0.13, r * 0.1, head_angle_);
    brush_.wash({0.16, 0.09, 0.12});
  }
}

void Creature::face() {
  const double r = head_radius_;
  if (has(Part::kTusks)) {
    const double s = size(Trait::kMuzzleSize, 0.16);
    for (const double x : {0.86, 0.36}) {
      brush_.ribbon({head_at(x, 0.5), head_at(x + 0.08, 0.98), head_at(x + 0.42, 0.8 + 0.5 * s),
                     head_at(x + 0.86, 0.5 + 0.2 * s)},
                    taper(r * 0.17, r * 0.03));
      brush_.paint(x > 0.5 ? far({0.97, 0.95, 0.86}) : Colour{0.97, 0.95, 0.86});
    }
  }
  if (has(Part::kWhiskers)) {
    for (const double spread : {-0.34, 0.0, 0.34}) {
      for (const double side : {-1.0, 1.0}) {
        const double x = side < 0 ? 0.2 : 0.72;
        brush_.line({head_at(x, 0.38 + spread * 0.3), head_at(x + side * 0.55, 0.38 + spread * 0.9),
                     head_at(x + side * 1.12, 0.46 + spread * 2.0)});
        brush_.ink({0.12, 0.1, 0.14}, 0.034);
        brush_.line({head_at(x, 0.38 + spread * 0.3), head_at(x + side * 0.55, 0.38 + spread * 0.9),
                     head_at(x + side * 1.12, 0.46 + spread * 2.0)});
        brush_.ink({0.98, 0.98, 0.94}, 0.017);
      }
    }
  }
  if (has(Part::kNoseHorn)) {
    const double s = size(Trait::kHornSize, 0.16);
    brush_.blob({head_at(0.52, -0.02), head_at(0.84, -0.5), head_at(1.02, -0.62 - 0.6 * s), head_at(1.2, -0.36),
                 head_at(1.08, 0.2), head_at(0.8, 0.22)});
    brush_.paint(figure_.palette.bone);
  }
}

}  // namespace protocom::synthetic
