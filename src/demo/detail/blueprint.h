#pragma once
#include <string>
#include <vector>

#include "datasets/split.h"
#include "demo/detail/creature.h"
#include "demo/synthetic.h"

/// Definitions of classes, before anything is drawn.
namespace protocom::synthetic {

/// A class: its parts, its typical shape and its colours.
struct Blueprint {
  std::string name;
  Split split = Split::kBase;
  PartSet parts;  ///< including the body
  Traits traits = {};
  double hue = 0.0;  ///< of the coat, degrees
  double lightness = 0.0;
  double chroma = 0.0;
  double second_turn = 0.0;  ///< hue of the second colour minus that of the coat
};

/// Returns the classes of a world, base first. Val and novel classes have only parts that base classes have, and no two
/// have the same parts.
std::vector<Blueprint> make_blueprints(const SyntheticOptions& options);

/// Returns the colours of one individual.
Palette make_palette(const Blueprint& blueprint, Rng& rng, double spread);

/// Returns the bodies among `parts`.
PartSet body_of(const PartSet& parts);

}  // namespace protocom::synthetic
