#pragma once
#include <cstdint>

#include "base/rng.h"
#include "images/image.h"

namespace protocom {

/// How training images are varied. The defaults are the authors' (crop with padding 8 at 84 pixels, colour jitter 0.4,
/// horizontal flip).
struct AugmentOptions {
  double crop_padding =
      8.0 / 84;  ///< black border before the random crop, as a fraction of the side, rounded to pixels; 0: no crop
  double colour_jitter = 0.4;     ///< brightness, contrast and saturation each times uniform [1 - j, 1 + j]; 0: none
  double flip_probability = 0.5;  ///< of a horizontal flip
};

/// Factors of the three colour changes; 1 changes nothing.
struct ColourFactors {
  double brightness = 1;
  double contrast = 1;
  double saturation = 1;
};

/// Mirrors left and right.
void flip_horizontally(Image& image);

/// The image moved by (down, right) pixels; what comes in from outside is black. This is the crop at (-down, -right) of
/// the padded image.
Image shift(const Image& image, int64_t down, int64_t right);

/// Times brightness, then blended with its own mean grey by contrast, then each pixel with its own grey by saturation
/// (grey by ITU-R 601); values are clamped to [0, 255] after each and rounded at the end.
void change_colours(Image& image, const ColourFactors& factors);

/// A square image turned counter-clockwise by 90 degrees `turns` times. Throws Error when it is not square.
Image rotate_quarters(const Image& image, int turns);

/// One random variation of an image.
struct AugmentDraw {
  int64_t down = 0, right = 0;  ///< pixels, see shift
  ColourFactors colours;
  bool flip = false;
};

/// Draws a variation of an image of `side` pixels.
AugmentDraw draw_augmentation(const AugmentOptions& options, int64_t side, Rng& rng);

/// Crop, colours, flip, in this order.
Image augment(const Image& image, const AugmentDraw& draw);

}  // namespace protocom
