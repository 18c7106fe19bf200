#include "demo/detail/creature.h"

namespace protocom::synthetic {
namespace {

constexpr Colour kWhite = {0.98, 0.98, 0.96};

Vec base_axes(const PartSet& body) {
  if (body.test(index(Part::kLongBody))) return {0.58, 0.25};
  if (body.test(index(Part::kPearBody))) return {0.33, 0.44};
  if (body.test(index(Part::kArchedBody))) return {0.50, 0.31};
  return {0.41, 0.37};
}

double signed_power(double value, double power) { return std::copysign(std::pow(std::abs(value), power), value); }

}  // namespace

Creature::Creature(Brush& brush, const Figure& figure) : brush_(brush), figure_(figure), rng_(figure.rng.fork(0)) {
  const Vec axes = base_axes(figure.body);
  half_ = {axes.x * size(Trait::kBodyLength, 0.10), axes.y * size(Trait::kBodyHeight, 0.10)};
  leg_ = 0.34 * size(Trait::kLegLength, 0.2);
  head_radius_ = 0.245 * size(Trait::kHeadSize, 0.12);
  head_angle_ = figure.pose.head;
  const bool upright = has(Part::kPearBody);
  neck_root_ = body_at(upright ? -72 : -38, 0.82);
  const double stretch = has(Part::kLongNeck) ? 0.42 * size(Trait::kNeckSize, 0.2) : 0.0;
  const double length = head_radius_ * 0.72 + 0.03 * size(Trait::kNeckLength, 0.5) + stretch;
  head_center_ = neck_root_ + polar(radians(upright ? -72 : -48) + figure.pose.neck, length);
}

double Creature::size(Trait t, double spread) const { return std::exp(spread * trait(t)); }

Colour Creature::far(Colour colour) { return mix(colour, kNight, 0.24); }

Vec Creature::body_at(double degrees, double scale) const {
  double c = std::cos(radians(degrees));
  const double s = std::sin(radians(degrees));
  double y = half_.y * s;
  if (has(Part::kLongBody)) c = signed_power(c, 0.8);
  if (has(Part::kPearBody)) c *= 1.0 + 0.24 * s;
  if (has(Part::kArchedBody)) y += 0.24 * half_.y * (2.2 * c * c - 1.0);
  return {half_.x * c * scale, y * scale};
}

Vec Creature::head_at(double x, double y) const {
  const double c = std::cos(head_angle_);
  const double s = std::sin(head_angle_);
  return head_center_ + Vec{x * c - y * s, x * s + y * c} * head_radius_;
}

Vec Creature::head_polar(double degrees, double radius) const {
  const Vec v = polar(radians(degrees), radius);
  return head_at(v.x, v.y);
}

void Creature::draw() {
  wing(-1.0);
  tail();
  legs(-1.0);
  back_behind();
  body();
  side_fin();
  legs(1.0);
  shell();
  mane();
  neck();
  far_ear();
  horns_behind();
  crest();
  head();
  near_ear();
  eyes();
  muzzle();
  face();
  horns_in_front();
  wing(1.0);
}

void Creature::body_path() {
  std::vector<Vec> outline;
  for (int degrees = 0; degrees < 360; degrees += 20) outline.push_back(body_at(degrees));
  brush_.blob(outline);
}

void Creature::head_path() { brush_.ellipse(head_center_, head_radius_ * 1.06, head_radius_ * 0.98, head_angle_); }

void Creature::body() {
  body_path();
  brush_.paint(figure_.palette.coat);
  body_path();
  brush_.inside([this] { coat(); });
  // Marks may run over the outline's inner half: draw it again.
  body_path();
  brush_.ink(mix(figure_.palette.coat, kNight, 0.7), 0.022);
}

void Creature::neck() {
  if (!has(Part::kLongNeck)) return;
  const Vec middle = lerp(neck_root_, head_center_, 0.5) + Vec{-0.05, 0.0};
  const double w = head_radius_ * 0.46;
  brush_.ribbon({neck_root_ + Vec{-0.06, 0.16}, neck_root_, middle, head_center_}, taper(w * 1.5, w * 0.9));
  brush_.paint(figure_.palette.coat);
  const Vec root = neck_root_ + Vec{-0.05, 0.14};
  brush_.circle(root, w * 1.36);
  brush_.wash(figure_.palette.coat);
}

void Creature::head() {
  head_path();
  brush_.paint(figure_.palette.coat);
  head_path();
  brush_.inside([this] { coat_on_head(); });
}

void Creature::eye(Vec center, double radius) {
  brush_.circle(center, radius);
  brush_.wash(kWhite);
  brush_.circle(center, radius);
  brush_.ink({0.1, 0.08, 0.12}, 0.018);
  const Vec look = polar(figure_.pose.gaze, radius * 0.26);
  brush_.circle(center + look, radius * 0.62);
  brush_.wash({0.07, 0.06, 0.1});
  brush_.circle(center + look + Vec{radius * 0.2, -radius * 0.24}, radius * 0.2);
  brush_.wash({1, 1, 1});
}

void Creature::eyes() {
  const double r = head_radius_;
  if (has(Part::kSingleEye)) {
    eye(head_at(0.26, -0.2), r * 0.5);
  } else if (has(Part::kStalkEyes)) {
    for (const double x : {0.62, 0.0}) {
      const Vec top = head_at(x * 1.5 - 0.05, -1.55);
      brush_.ribbon({head_at(x, -0.55), head_at(x * 1.2, -1.1), top}, taper(r * 0.13, r * 0.12));
      brush_.paint(figure_.palette.coat);
      eye(top, r * 0.36);
    }
  } else {
    const double radius = has(Part::kBigEyes) ? r * 0.42 : r * 0.2;
    eye(head_at(0.66, -0.24), radius * 0.86);
    eye(head_at(-0.04, -0.22), radius);
  }
}

}  // namespace protocom::synthetic
