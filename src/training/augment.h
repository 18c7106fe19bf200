#pragma once
#include <cstdint>

#include "base/rng.h"
#include "images/image.h"

namespace protocom {

/// Augmentation of training images. The defaults are the authors' (crop with padding 8 at 84 pixels, colour jitter 0.4,
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

/// Mirrors the image left to right.
void flip_horizontally(Image& image);

/// Returns the image moved by (down, right) pixels; what comes in from outside is black. This is the crop at
/// (-down, -right) of the padded image.
Image shift(const Image& image, int64_t down, int64_t right);

/// Multiplies by brightness, then blends with the image's mean grey by contrast, then each pixel with its own grey by
/// saturation (grey by ITU-R 601); clamps values to [0, 255] after each step and rounds at the end.
void change_colours(Image& image, const ColourFactors& factors);

/// Returns a square image turned counter-clockwise by 90 degrees `turns` times. Throws Error if it is not square.
Image rotate_quarters(const Image& image, int turns);

/// One random augmentation of an image.
struct AugmentDraw {
  int64_t down = 0, right = 0;  ///< pixels, see shift
  ColourFactors colours;
  bool flip = false;
};

/// Draws an augmentation for an image of `side` pixels.
AugmentDraw draw_augmentation(const AugmentOptions& options, int64_t side, Rng& rng);

/// Applies crop, colours and flip, in this order.
Image augment(const Image& image, const AugmentDraw& draw);

}  // namespace protocom
