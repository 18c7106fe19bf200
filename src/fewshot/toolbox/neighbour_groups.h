#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace protocom {

/// Groups of images that are near neighbours of one another, which serve as classes where images are unlabelled: images
/// of one class, or of classes that look alike, differ as those of a group do.
///
/// Each image is joined with up to four of its ten nearest (cosine of square roots if no feature is negative, less
/// their mean) that have it among their own ten nearest. The groups that are nearest together come first; an image is
/// in one group, and a group has four or five images.
///
/// features: [n, d]. Returns [n], groups numbered from 0 in that order, -1: in none. O(n^2 d).
std::vector<int64_t> neighbour_groups(const FloatMatrix& features);

}  // namespace protocom
