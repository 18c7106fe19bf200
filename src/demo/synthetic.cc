#include "demo/synthetic.h"

#include <algorithm>

#include "base/error.h"
#include "demo/detail/blueprint.h"
#include "demo/detail/scene.h"

namespace protocom {

using namespace synthetic;

namespace {

// Streams of the world's generator: classes use 1 (see make_blueprints), images the rest.
constexpr uint64_t kImageStream = 2;

std::vector<std::string> names_of(const PartSet& parts) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kPartCount; ++i) {
    if (parts.test(i)) names.emplace_back(part_table()[i].name);
  }
  return names;
}

Pose random_pose(Rng& rng) {
  Pose pose;
  pose.neck = rng.uniform(-0.4, 0.35);
  pose.head = rng.uniform(-0.35, 0.35);
  pose.tail = rng.uniform(-0.7, 0.6);
  pose.wing = rng.uniform(-0.5, 0.6);
  pose.ear = rng.uniform(-0.6, 0.6);
  pose.stride = rng.uniform(0.0, 2 * kPi);
  pose.gaze = rng.uniform(-0.8, 0.8);
  return pose;
}

/// Placement of a figure in the unit square.
struct Placement {
  Vec center = {0.5, 0.5};
  double extent = 0.88;  ///< of the longer side, before rotation
  double turn = 0.0;
  double shear = 0.0;
  bool mirrored = false;
  bool on_ground = false;  ///< whether center.y is that of the lowest point
};

Placement random_placement(Rng& rng) {
  Placement p;
  p.center = {rng.uniform(0.41, 0.59), rng.uniform(0.43, 0.58)};
  p.extent = rng.uniform(0.7, 1.0);
  p.turn = std::clamp(0.2 * rng.normal(), -0.5, 0.5);
  p.shear = rng.uniform(-0.14, 0.14);
  p.mirrored = rng.uniform() < 0.5;
  return p;
}

struct Box {
  Vec low;
  Vec size;
};

// Measures the extent of the figure, ink included, whatever its parts.
Box measure(const Figure& figure) {
  constexpr double kScale = 1000.0;  // extents of a recording are whole pixels
  const Surface record(cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nullptr));
  const Context context = make_context(record.get());
  cairo_scale(context.get(), kScale, kScale);
  Brush brush(context.get());
  Creature(brush, figure).draw();
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  cairo_recording_surface_ink_extents(record.get(), &x, &y, &width, &height);
  return {{x / kScale, y / kScale}, {width / kScale, height / kScale}};
}

// Drawn again rather than replayed from the recording: cairo 1.16 drops strokes when it replays a rotated one.
void draw_figure(cairo_t* unit, const Figure& figure, const Placement& p) {
  const Box box = measure(figure);
  const double scale = p.extent / std::max(box.size.x, box.size.y);
  cairo_save(unit);
  cairo_translate(unit, p.center.x, p.center.y);
  cairo_rotate(unit, p.turn);
  cairo_matrix_t shear;
  cairo_matrix_init(&shear, 1, 0, p.shear, 1, 0, 0);
  cairo_transform(unit, &shear);
  cairo_scale(unit, p.mirrored ? -scale : scale, scale);
  cairo_translate(unit, -(box.low.x + box.size.x / 2), -(box.low.y + box.size.y * (p.on_ground ? 1.0 : 0.5)));
  Brush brush(unit);
  Creature(brush, figure).draw();
  cairo_restore(unit);
}

// Out of focus: painted small, then enlarged.
void draw_blurred_background(cairo_t* target, int64_t pixels, Rng& rng) {
  const int64_t small =
      std::max<int64_t>(16, static_cast<int64_t>(static_cast<double>(pixels) * rng.uniform(0.18, 0.7)));
  const Surface surface = make_surface(small, small);
  const Context context = make_context(surface.get());
  cairo_scale(context.get(), static_cast<double>(small), static_cast<double>(small));
  Brush brush(context.get());
  draw_background(brush, rng);
  const double k = static_cast<double>(pixels) / static_cast<double>(small - 1);
  cairo_save(target);
  cairo_scale(target, k, k);
  cairo_set_source_surface(target, surface.get(), -0.5, -0.5);
  cairo_pattern_set_filter(cairo_get_source(target), CAIRO_FILTER_BILINEAR);
  cairo_pattern_set_extend(cairo_get_source(target), CAIRO_EXTEND_PAD);
  cairo_paint(target);
  cairo_restore(target);
}

// Simulates the camera: colour cast, contrast, noise.
void develop(Image& image, Rng& rng) {
  const double contrast = rng.uniform(0.8, 1.12);
  const double brightness = rng.uniform(-16.0, 16.0);
  const double noise = rng.uniform(0.0, 6.0);
  double cast[3];
  for (double& c : cast) c = rng.uniform(0.93, 1.07);
  for (size_t i = 0; i < image.rgb.size(); ++i) {
    const double value = ((image.rgb[i] - 128.0) * contrast + 128.0 + brightness) * cast[i % 3] + noise * rng.normal();
    image.rgb[i] = static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
  }
}

Context unit_context(cairo_surface_t* surface, int64_t pixels) {
  Context context = make_context(surface);
  cairo_scale(context.get(), static_cast<double>(pixels), static_cast<double>(pixels));
  return context;
}

int64_t supersampling(int64_t image_size) { return std::clamp<int64_t>((128 + image_size - 1) / image_size, 2, 4); }

}  // namespace

struct SyntheticWorld::Impl {
  SyntheticOptions options;
  std::vector<Blueprint> blueprints;
  std::vector<SyntheticClass> classes;

  [[nodiscard]] const Blueprint& blueprint(int64_t class_index) const {
    if (class_index < 0 || class_index >= static_cast<int64_t>(blueprints.size())) {
      fail("class {} does not exist: the synthetic world has {} classes", class_index, blueprints.size());
    }
    return blueprints[static_cast<size_t>(class_index)];
  }
};

SyntheticWorld::SyntheticWorld(const SyntheticOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->blueprints = make_blueprints(options);
  for (const Blueprint& b : impl_->blueprints) impl_->classes.push_back({b.name, b.split, names_of(b.parts)});
}

SyntheticWorld::~SyntheticWorld() = default;
SyntheticWorld::SyntheticWorld(SyntheticWorld&&) noexcept = default;

const std::vector<SyntheticClass>& SyntheticWorld::classes() const { return impl_->classes; }
const SyntheticOptions& SyntheticWorld::options() const { return impl_->options; }
std::vector<std::string> SyntheticWorld::attribute_names() { return names_of(PartSet().set()); }

bool SyntheticWorld::is_always_shown(const std::string& attribute) {
  return std::any_of(part_table().begin(), part_table().end(),
                     [&](const PartInfo& part) { return part.slot == Slot::kBody && part.name == attribute; });
}

SyntheticImage SyntheticWorld::draw(int64_t class_index, int64_t image) const {
  const Blueprint& blueprint = impl_->blueprint(class_index);
  Rng rng = Rng(impl_->options.seed)
                .fork(kImageStream)
                .fork(static_cast<uint64_t>(class_index))
                .fork(static_cast<uint64_t>(image));
  Figure figure;
  figure.body = body_of(blueprint.parts);
  for (size_t i = 0; i < kPartCount; ++i) {
    const bool seen = rng.uniform() < impl_->options.part_visibility;
    figure.shown.set(i, blueprint.parts.test(i) && (seen || figure.body.test(i)));
  }
  for (size_t i = 0; i < kTraitCount; ++i) figure.traits[i] = blueprint.traits[i] + 0.55 * rng.normal();
  figure.pose = random_pose(rng);
  figure.palette = make_palette(blueprint, rng, 1.0);
  figure.rng = rng.fork(1);
  const int64_t factor = supersampling(impl_->options.image_size);
  const int64_t pixels = impl_->options.image_size * factor;
  const Surface canvas = make_surface(pixels, pixels);
  const Context context = make_context(canvas.get());
  Rng scene = rng.fork(2);
  draw_blurred_background(context.get(), pixels, scene);
  const Surface layer = make_surface(pixels, pixels);
  draw_figure(unit_context(layer.get(), pixels).get(), figure, random_placement(rng));
  composite_in_perspective(canvas.get(), layer.get(), {rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2)});
  cairo_scale(context.get(), static_cast<double>(pixels), static_cast<double>(pixels));
  Brush brush(context.get());
  Rng front = rng.fork(3);
  draw_foreground(brush, front);
  SyntheticImage result{shrink(canvas.get(), factor), names_of(figure.shown)};
  develop(result.image, rng);
  return result;
}

Image SyntheticWorld::plate(int64_t class_index, int64_t size) const {
  const Blueprint& blueprint = impl_->blueprint(class_index);
  Rng rng(impl_->options.seed);
  Figure figure;
  figure.body = body_of(blueprint.parts);
  figure.shown = blueprint.parts;
  figure.traits = blueprint.traits;
  figure.palette = make_palette(blueprint, rng, 0.0);
  figure.pose.stride = 0.9;
  const int64_t factor = supersampling(size);
  const Surface canvas = make_surface(size * factor, size * factor);
  const Context context = unit_context(canvas.get(), size * factor);
  Brush brush(context.get());
  draw_plate(brush);
  Placement placement;
  placement.center = {0.5, 0.925};
  placement.extent = 0.84;
  placement.on_ground = true;
  draw_figure(context.get(), figure, placement);
  return shrink(canvas.get(), factor);
}

}  // namespace protocom
