#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "networks/backbone.h"

namespace protocom {

/// Returns the directions in which patches of `side` x `side` pixels vary: eigenvectors of the patches' second moments
/// (1 / p) sum x x^T, highest energy first. `images` float [n, 3, h, w], normalised; -> [3 side^2, 3, side, side], each
/// of length 1 and with sum_i cos(i) v_i at least 0 over its numbers: only a sign that does not depend on rounding is
/// the same on every processor.
at::Tensor patch_components(const at::Tensor& images, int64_t side);

/// Initialises the convolution that sees the images with the first components and their negatives, as many pairs as it
/// has room for; the batch norm behind it gives all of them the same variance, which whitens patches (Coates & Ng 2012;
/// Page, "How to train your ResNet", 2019). Other filters are not changed. `pixels` uint8 [n, side, side, 3], of which
/// rows are drawn by `seed` until there are enough patches.
void whiten_first_convolution(Backbone& backbone, const at::Tensor& pixels, const std::vector<int64_t>& rows,
                              uint64_t seed);

/// Initialises the first filters of every other 3 x 3 convolution, as many as it has inputs, so that each passes one
/// input on (Zagoruyko & Komodakis, "DiracNets", 2017; Jordan, "94% on CIFAR-10 in 3.29 Seconds on a Single GPU",
/// 2024).
void pass_inputs_on(Backbone& backbone);

}  // namespace protocom
