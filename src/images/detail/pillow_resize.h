#pragma once
#include <cstdint>

#include "images/image.h"
#include "images/resampling.h"

namespace protocom {

/// The size of a whole image, and the position of the part that is computed.
struct ResizedPart {
  int64_t height, width;
  int64_t top, left;
};

/// Fills `out` with the part beginning at `top`, `left` of the image resized to `height` x `width`, bit-identical to
/// Pillow's Image.resize: columns first, then rows, each rounded to 8 bits. Source: Pillow, src/libImaging/Resample.c
/// (filters and the fixed point of 22 bits) and Geometry.c (nearest).
void resize_as_pillow(const Image& image, const ResizedPart& part, Resampling resampling, Image& out);

}  // namespace protocom
