#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace protocom {

/// Groups of images that are near neighbours of each other, which serve as classes where images are unlabelled: images
/// of one class, or of classes that look alike, differ as the images of a group do.
///
/// Each image is joined with up to four of its ten nearest (cosine of centred features, after square roots if none is
/// negative) that also have it among their ten nearest. The tightest groups come first; an image is in at most one
/// group, and a group has four or five images.
///
/// features: [n, d]. Returns [n]: groups numbered from 0 in that order, -1: in no group. O(n^2 d).
std::vector<int64_t> neighbour_groups(const FloatMatrix& features);

}  // namespace protocom
