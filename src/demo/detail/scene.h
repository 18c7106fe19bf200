#pragma once
#include "base/rng.h"
#include "demo/detail/paint.h"

/// Background and foreground of the creatures. Both draw in a space where the image is the unit square.
namespace protocom::synthetic {

/// Fills the unit square with one of several kinds of scenery. Independent of the class.
void draw_background(Brush& brush, Rng& rng);

/// Draws nothing, or one or two things that hide a part of what is behind them.
void draw_foreground(Brush& brush, Rng& rng);

/// Draws the plain ground of a field guide's plate.
void draw_plate(Brush& brush);

}  // namespace protocom::synthetic
