#include "trainers/detail/augment_batch.h"

#include <torch/torch.h>

#include "base/check.h"

namespace protocom {
namespace {

/// Source pixel that each pixel shows, and whether there is one; int64 and bool [b, size, size].
struct Origin {
  at::Tensor y, x, inside;
};

Origin origins(const at::Tensor& moves, int64_t size) {
  const auto move = [&](int64_t column) { return moves.select(1, column).view({-1, 1, 1}); };
  const at::Tensor y = at::arange(size, moves.options()).view({1, size, 1});
  const at::Tensor x = at::arange(size, moves.options()).view({1, 1, size});
  const int64_t end = size - 1;
  const at::Tensor turns = move(3);
  // Undoes the moves in reverse order: turn, flip, shift.
  at::Tensor from_y = at::where(turns.eq(0), y, at::where(turns.eq(1), x, at::where(turns.eq(2), end - y, end - x)));
  at::Tensor from_x = at::where(turns.eq(0), x, at::where(turns.eq(1), end - y, at::where(turns.eq(2), end - x, y)));
  from_x = at::where(move(2).ne(0), end - from_x, from_x);
  from_y = from_y - move(0);
  from_x = from_x - move(1);
  const at::Tensor inside =
      from_y.ge(0).logical_and(from_y.lt(size)).logical_and(from_x.ge(0)).logical_and(from_x.lt(size));
  return {from_y.clamp(0, end), from_x.clamp(0, end), inside};
}

/// Maps [..., 3] to [...], ITU-R 601.
at::Tensor grey(const at::Tensor& rgb) {
  return 0.299 * rgb.select(-1, 0) + 0.587 * rgb.select(-1, 1) + 0.114 * rgb.select(-1, 2);
}

/// Applies change_colours() to float rgb [b, size, size, 3], in place.
void change_colours(at::Tensor& rgb, const at::Tensor& colours) {
  const auto factor = [&](int64_t column) { return colours.select(1, column).view({-1, 1, 1, 1}); };
  rgb.mul_(factor(0)).clamp_(0, 255);
  const at::Tensor centre = grey(rgb).mean({1, 2}).view({-1, 1, 1, 1});
  rgb.mul_(factor(1)).add_((1 - factor(1)) * centre).clamp_(0, 255);
  const at::Tensor own = grey(rgb).unsqueeze(3);
  rgb.mul_(factor(2)).add_((1 - factor(2)) * own).clamp_(0, 255);
}

}  // namespace

AugmentDraws AugmentDraws::to(c10::Device device) const {
  return {moves.to(device, moves.scalar_type(), /*non_blocking=*/true),
          colours.to(device, colours.scalar_type(), /*non_blocking=*/true)};
}

AugmentDraws stack_draws(const std::vector<AugmentDraw>& draws, const std::vector<int64_t>& turns) {
  PROTOCOM_CHECK(turns.empty() || turns.size() == draws.size());
  std::vector<int64_t> moves;
  std::vector<float> colours;
  for (size_t i = 0; i < draws.size(); ++i) {
    const AugmentDraw& draw = draws[i];
    moves.insert(moves.end(), {draw.down, draw.right, draw.flip ? 1 : 0, turns.empty() ? 0 : turns[i]});
    for (const double factor : {draw.colours.brightness, draw.colours.contrast, draw.colours.saturation})
      colours.push_back(static_cast<float>(factor));
  }
  const auto count = static_cast<int64_t>(draws.size());
  return {at::tensor(moves, at::kLong).view({count, 4}), at::tensor(colours, at::kFloat).view({count, 3})};
}

at::Tensor augment_batch(const at::Tensor& pixels, const at::Tensor& rows, const AugmentDraws& draws) {
  const torch::NoGradGuard no_grad;
  const int64_t size = pixels.size(1);
  const Origin origin = origins(draws.moves, size);
  const at::Tensor place = (rows.view({-1, 1, 1}) * size + origin.y) * size + origin.x;  // [b, size, size]
  at::Tensor rgb = pixels.view({-1, 3}).index_select(0, place.flatten()).view({-1, size, size, 3}).to(at::kFloat);
  rgb.mul_(origin.inside.unsqueeze(3));
  change_colours(rgb, draws.colours);
  return rgb.add_(0.5).to(at::kByte);
}

}  // namespace protocom
