#include "trainers/detail/first_weights.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "networks/torch_encoder.h"

namespace protocom {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kPatches = 4'000'000;  // enough for 27 to 147 directions

/// Returns the weights of the backbone's convolutions larger than 1 x 1, [out, in, side, side] each.
std::vector<at::Tensor> convolutions_of(const Backbone& backbone) {
  std::vector<at::Tensor> weights;
  for (const auto& [name, tensor] : backbone.state_dict()) {
    if (tensor.dim() == 4 && tensor.size(2) > 1) weights.push_back(tensor);
  }
  return weights;
}

bool sees_images(const at::Tensor& weight) { return weight.size(1) == kColours; }

/// Returns the images of the rows, normalised as for the backbone, [n, 3, h, w].
at::Tensor normalised(const Backbone& backbone, const at::Tensor& pixels, const std::vector<int64_t>& rows) {
  const at::Tensor images = to_float_images(pixels.index_select(0, at::tensor(rows, at::kLong)));
  const Preprocessing norm = backbone.preprocessing();
  const auto of_colours = [](const auto& values) {
    return at::tensor(std::vector<double>(values.begin(), values.end())).to(at::kFloat).view({1, kColours, 1, 1});
  };
  return (images - of_colours(norm.mean)) / of_colours(norm.std);
}

/// Returns `count` random rows, or all if there are fewer.
std::vector<int64_t> drawn(const std::vector<int64_t>& rows, int64_t count, uint64_t seed) {
  const auto all = static_cast<int64_t>(rows.size());
  std::vector<int64_t> some;
  for (const int64_t place : Rng(seed).sample(all, std::min(count, all)))
    some.push_back(rows[static_cast<size_t>(place)]);
  return some;
}

/// Returns 1 or -1 for each of the columns, by a direction to which no image pattern is orthogonal by symmetry.
at::Tensor column_signs(const at::Tensor& columns) {
  const at::Tensor direction = at::arange(columns.size(0), columns.options()).cos();
  return at::where(at::mv(columns.t(), direction) < 0, -1.0, 1.0);
}

}  // namespace

at::Tensor patch_components(const at::Tensor& images, int64_t side) {
  const int64_t numbers = kColours * side * side;
  at::Tensor moments = at::zeros({numbers, numbers}, at::kDouble);
  for (const at::Tensor& some : images.split(32)) {
    const at::Tensor patches = at::im2col(some, {side, side}, {1, 1}, {0, 0}, {1, 1});  // [n, numbers, places]
    moments += at::matmul(patches, patches.transpose(1, 2)).sum(0).to(at::kDouble);
  }
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(moments));  // columns, lowest energy first
  return (vectors * column_signs(vectors)).t().flip(0).to(at::kFloat).reshape({numbers, kColours, side, side});
}

void whiten_first_convolution(Backbone& backbone, const at::Tensor& pixels, const std::vector<int64_t>& rows,
                              uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (at::Tensor& weight : convolutions_of(backbone)) {
    if (!sees_images(weight)) continue;
    const int64_t side = weight.size(2);
    const int64_t places = (pixels.size(1) - side + 1) * (pixels.size(2) - side + 1);
    const auto some = drawn(rows, std::max(kPatches / places, int64_t{1}), seed);
    const at::Tensor components = patch_components(normalised(backbone, pixels, some), side);
    const int64_t pairs = std::min(components.size(0), weight.size(0) / 2);
    // As long on average as the drawn filters that they replace, since the length decides how fast a filter turns.
    const double length = std::sqrt(weight.square().sum().item<double>() / static_cast<double>(weight.size(0)));
    const at::Tensor first = length * components.slice(0, 0, pairs);
    weight.slice(0, 0, 2 * pairs).copy_(at::cat({first, -first}));
  }
}

void pass_inputs_on(Backbone& backbone) {
  const torch::NoGradGuard no_grad;
  for (at::Tensor& weight : convolutions_of(backbone)) {
    if (sees_images(weight) || weight.size(2) != 3) continue;
    at::Tensor first = weight.slice(0, 0, std::min(weight.size(0), weight.size(1)));
    torch::nn::init::dirac_(first);
  }
}

}  // namespace protocom
