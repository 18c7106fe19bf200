#pragma once
#include <array>

#include "base/rng.h"
#include "demo/detail/paint.h"
#include "demo/detail/parts.h"

/// The anatomy of one creature, seen from its right side, in a space where the body is about one unit long.
namespace protocom::synthetic {

/// Traits of shape; each is about standard normal between classes.
enum class Trait : size_t {
  kBodyLength,
  kBodyHeight,
  kHeadSize,
  kNeckLength,
  kLegLength,
  kLegWidth,
  kTailSize,
  kEarSize,
  kHornSize,
  kMuzzleSize,
  kWingSize,
  kBackSize,
  kNeckSize,
  kCoatScale,
  kCoatDensity,
  kBend
};
inline constexpr size_t kTraitCount = 16;
using Traits = std::array<double, kTraitCount>;

/// Angles (radians) and phases of one image.
struct Pose {
  double neck = 0.0;
  double head = 0.0;
  double tail = 0.0;
  double wing = 0.0;
  double ear = 0.0;
  double stride = 0.0;
  double gaze = 0.0;
};

/// The colours of one creature.
struct Palette {
  Colour coat;
  Colour second;  ///< mane, tail tip, wings
  Colour mark;    ///< stripes, spots
  Colour belly;
  Colour bone;  ///< horns, tusks, spikes
  Colour bill;
};

/// Everything that determines how a creature looks.
struct Figure {
  PartSet shown;
  PartSet body;  ///< exactly one body part, which is always drawn
  Traits traits = {};
  Pose pose;
  Palette palette;
  Rng rng{0};  ///< where spots lie and how feathers fall
};

/// Draws one figure, back to front.
class Creature {
 public:
  Creature(Brush& brush, const Figure& figure);
  void draw();

 private:
  [[nodiscard]] bool has(Part part) const { return figure_.shown.test(index(part)) || figure_.body.test(index(part)); }
  /// Returns exp(spread * trait): a factor around 1.
  [[nodiscard]] double size(Trait trait, double spread) const;
  [[nodiscard]] double trait(Trait trait) const { return figure_.traits[static_cast<size_t>(trait)]; }
  /// Returns a point of the body's outline at an angle, at `scale` times its distance from the centre.
  [[nodiscard]] Vec body_at(double degrees, double scale = 1.0) const;
  /// Returns a point given in the head's frame: x to the nose, y to the chin, in head radii.
  [[nodiscard]] Vec head_at(double x, double y) const;
  [[nodiscard]] Vec head_polar(double degrees, double radius) const;
  [[nodiscard]] static Colour far(Colour colour);
  void body_path();
  void head_path();

  // creature.cc
  void body();
  void neck();
  void head();
  void eyes();
  void eye(Vec center, double radius);
  // head.cc
  void mane();
  void crest();
  void far_ear();
  void near_ear();
  void ear(double degrees, Colour colour, double lean);
  void horns_behind();
  void horns_in_front();
  void antler(double degrees, Colour colour);
  void muzzle();
  void face();
  // limbs.cc
  void legs(double side);
  void walking_leg(Vec hip, double swing, Colour colour, double width);
  void spider_legs(double side);
  void tentacles(double side);
  void tail();
  void wing(double side);
  void feathered_wing(Vec root, double angle, double length, double side);
  void bat_wing(Vec root, double angle, double length, double side);
  void insect_wing(Vec root, double angle, double length, double side);
  void side_fin();
  // coat.cc
  void back_behind();
  void shell();
  void coat();
  void coat_on_head();
  void stripes();
  void spots();
  void scales();
  void patches();

  Brush& brush_;
  Figure figure_;
  Rng rng_;
  Vec half_;  // the body's half axes
  Vec neck_root_;
  Vec head_center_;
  double head_radius_ = 0.0;
  double head_angle_ = 0.0;
  double leg_ = 0.0;
};

}  // namespace protocom::synthetic
