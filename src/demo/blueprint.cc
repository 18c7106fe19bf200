#include "demo/detail/blueprint.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"

namespace protocom::synthetic {
namespace {

using Counts = std::array<int, kPartCount>;

// Slots with more kinds are chosen more often, so that all parts are about equally common.
constexpr std::array<double, kSlotCount> kSlotWeight = {0.0, 1.0, 1.0, 1.1, 0.7,  0.8, 0.8,
                                                        0.9, 0.9, 1.2, 1.3, 0.25, 1.4};

constexpr std::array<const char*, 96> kNouns = {
    "wug",  "dax",   "blick", "zorp", "fep",   "toma",  "gorp",  "snib",  "quol", "tulb",  "mib",  "nurf",
    "plim", "grub",  "vark",  "lomo", "pog",   "skrit", "bonk",  "yarp",  "hoob", "drell", "fizz", "jub",
    "kelp", "mump",  "nib",   "oof",  "pell",  "quib",  "rook",  "sploo", "trum", "umble", "vex",  "wimp",
    "zill", "bamf",  "crum",  "doob", "elm",   "flib",  "gloop", "hink",  "izzy", "jast",  "kip",  "lug",
    "moof", "nax",   "orb",   "prog", "quop",  "rill",  "spud",  "tink",  "urp",  "voom",  "wex",  "yoll",
    "zib",  "argle", "borf",  "clem", "dweeb", "erk",   "frum",  "gax",   "hobb", "ink",   "jorm", "krill",
    "loon", "merp",  "nool",  "omp",  "pux",   "quaff", "rumf",  "slib",  "tove", "ulp",   "vlim", "wozz",
    "yerk", "zamb",  "bix",   "cobb", "dorf",  "eek",   "foon",  "gimb",  "huff", "jink",  "kaz",  "lurp"};

bool clash(const PartSet& parts, Part part) {
  const auto has = [&](Part p) { return parts.test(index(p)); };
  const auto slot = part_table()[index(part)].slot;
  const auto has_slot = [&](Slot s) {
    for (size_t i = 0; i < kPartCount; ++i) {
      if (parts.test(i) && part_table()[i].slot == s) return true;
    }
    return false;
  };
  if (slot == Slot::kWings) return has_slot(Slot::kBack);
  if (slot == Slot::kBack) return has_slot(Slot::kWings);
  if (part == Part::kStalkEyes) return has_slot(Slot::kHeadgear);
  if (slot == Slot::kHeadgear) return has(Part::kStalkEyes);
  if (part == Part::kNoseHorn) return has_slot(Slot::kMouth);
  if (slot == Slot::kMouth) return has(Part::kNoseHorn);
  return false;
}

// Picks one of the slot's parts, preferring those that few classes have so far; kPartCount if none is allowed.
size_t pick_part(Slot slot, const PartSet& so_far, const PartSet& allowed, const Counts& used, Rng& rng) {
  std::array<double, kPartCount> weight = {};
  double total = 0.0;
  for (size_t i = 0; i < kPartCount; ++i) {
    if (part_table()[i].slot != slot || !allowed.test(i) || clash(so_far, static_cast<Part>(i))) continue;
    weight[i] = std::pow(1.0 / (1 + used[i]), 2.0);
    total += weight[i];
  }
  double draw = rng.uniform() * total;
  for (size_t i = 0; i < kPartCount; ++i) {
    if (weight[i] > 0.0 && (draw -= weight[i]) < 0.0) return i;
  }
  return kPartCount;
}

PartSet compose(const PartSet& allowed, const Counts& used, Rng& rng) {
  PartSet parts;
  parts.set(pick_part(Slot::kBody, parts, allowed, used, rng));
  const int64_t wanted = 6 + rng.below(4);
  std::array<double, kSlotCount> weight = kSlotWeight;
  for (int tries = 0; tries < 100 && static_cast<int64_t>(parts.count()) < wanted; ++tries) {
    double total = 0.0;
    for (const double w : weight) total += w;
    double draw = rng.uniform() * total;
    size_t slot = 0;
    while (slot + 1 < kSlotCount && (draw -= weight[slot]) >= 0.0) ++slot;
    const size_t part = weight[slot] > 0.0 ? pick_part(static_cast<Slot>(slot), parts, allowed, used, rng) : kPartCount;
    weight[slot] = 0.0;
    if (part < kPartCount) parts.set(part);
  }
  return parts;
}

bool too_similar(const PartSet& parts, const std::vector<Blueprint>& others, double limit) {
  return std::any_of(others.begin(), others.end(), [&](const Blueprint& other) {
    return static_cast<double>((parts & other.parts).count()) >=
           limit * static_cast<double>((parts | other.parts).count());
  });
}

PartSet compose_new(const PartSet& allowed, const Counts& used, const std::vector<Blueprint>& others, Rng& rng) {
  for (int tries = 0; tries < 4000; ++tries) {
    const PartSet parts = compose(allowed, used, rng);
    const double limit = tries < 200 ? 0.5 : tries < 1000 ? 0.75 : 1.0;
    if (parts.count() >= 6 && !too_similar(parts, others, limit)) return parts;
  }
  fail_usage(
      "no further class can be composed of the base classes' parts after {} classes: request more base classes or "
      "fewer classes in all",
      others.size());
}

// Returns "horned-wug": named after the part that the fewest classes have.
std::string make_name(const PartSet& parts, const Counts& used, std::set<std::string>& taken, Rng& rng) {
  size_t rarest = kPartCount;
  for (size_t i = 0; i < kPartCount; ++i) {
    if (!parts.test(i) || part_table()[i].slot == Slot::kBody) continue;
    if (rarest == kPartCount || used[i] < used[rarest]) rarest = i;
  }
  const std::string adjective = part_table()[rarest].adjective;
  const auto start = static_cast<size_t>(rng.below(static_cast<int64_t>(kNouns.size())));
  for (size_t lap = 0;; ++lap) {
    for (size_t i = 0; i < kNouns.size(); ++i) {
      const std::string noun = kNouns[(start + i) % kNouns.size()];
      // Uses each noun once while there are unused ones; later laps join two.
      const std::string full = lap == 0 ? noun : noun + kNouns[(start + i + lap) % kNouns.size()];
      std::string name = adjective;
      name.append("-").append(full);
      if (taken.insert(full).second) return name;
    }
  }
}

void check(const SyntheticOptions& o) {
  if (o.image_size < 16 || o.image_size > 4096) fail_usage("image size {} is out of range 16 to 4096", o.image_size);
  if (o.images_per_class < 1) fail_usage("{} images per class: at least 1 is needed", o.images_per_class);
  if (o.base_classes < 8)
    fail_usage("base classes: expected at least 8, whose parts val and novel classes share, found {}", o.base_classes);
  if (o.val_classes < 0 || o.novel_classes < 0) fail_usage("the number of val or novel classes is negative");
  if (!(o.part_visibility > 0.0 && o.part_visibility <= 1.0))
    fail_usage("part visibility {} is out of range (0, 1]", o.part_visibility);
}

void colour(Blueprint& blueprint, Rng& rng) {
  static constexpr std::array<double, 9> kHues = {25, 50, 75, 105, 145, 195, 240, 290, 345};
  blueprint.hue = kHues[static_cast<size_t>(rng.below(static_cast<int64_t>(kHues.size())))];
  blueprint.lightness = rng.uniform(0.58, 0.78);
  blueprint.chroma = rng.uniform(0.05, 0.13);
  blueprint.second_turn = std::array<double, 4>{-70, 45, 120, 180}[static_cast<size_t>(rng.below(4))];
}

}  // namespace

PartSet body_of(const PartSet& parts) {
  PartSet body;
  for (size_t i = 0; i < kPartCount; ++i) body.set(i, parts.test(i) && part_table()[i].slot == Slot::kBody);
  return body;
}

std::vector<Blueprint> make_blueprints(const SyntheticOptions& options) {
  check(options);
  Rng rng = Rng(options.seed).fork(1);
  std::vector<Blueprint> all;
  std::set<std::string> taken;
  PartSet of_base;
  const auto add = [&](Split split, int64_t count) {
    Counts used = {};
    for (int64_t k = 0; k < count; ++k) {
      Blueprint blueprint;
      blueprint.split = split;
      blueprint.parts = compose_new(split == Split::kBase ? PartSet().set() : of_base, used, all, rng);
      for (size_t i = 0; i < kPartCount; ++i) used[i] += blueprint.parts.test(i) ? 1 : 0;
      if (split == Split::kBase) of_base |= blueprint.parts;
      for (double& trait : blueprint.traits) trait = 0.7 * rng.normal();
      colour(blueprint, rng);
      blueprint.name = make_name(blueprint.parts, used, taken, rng);
      all.push_back(std::move(blueprint));
    }
  };
  add(Split::kBase, options.base_classes);
  add(Split::kVal, options.val_classes);
  add(Split::kNovel, options.novel_classes);
  return all;
}

Palette make_palette(const Blueprint& b, Rng& rng, double spread) {
  // Some individuals have any colour, so that colour alone does not distinguish classes.
  const bool morph = spread > 0.0 && rng.uniform() < 0.3;
  const double hue = morph ? rng.uniform(0.0, 360.0) : b.hue + spread * 35.0 * rng.normal();
  const double light = std::clamp(b.lightness + spread * 0.06 * rng.normal(), 0.45, 0.86);
  const double chroma = std::clamp(b.chroma * std::exp(spread * 0.3 * rng.normal()), 0.02, 0.17);
  const double second = hue + b.second_turn + spread * 15.0 * rng.normal();
  Palette palette;
  palette.coat = oklch(light, chroma, hue);
  palette.second = oklch(std::clamp(light + (light > 0.66 ? -0.16 : 0.14), 0.4, 0.85), chroma + 0.035, second);
  palette.mark = oklch(light - 0.32, chroma * 0.8, second);
  palette.belly = oklch(0.93, 0.035, hue + 20);
  palette.bone = oklch(0.9 + spread * 0.02 * rng.normal(), 0.05, 85);
  palette.bill = oklch(0.76 + spread * 0.03 * rng.normal(), 0.16, 65 + spread * 10.0 * rng.normal());
  return palette;
}

}  // namespace protocom::synthetic
