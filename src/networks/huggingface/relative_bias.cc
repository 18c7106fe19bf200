#include "networks/huggingface/detail/relative_bias.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace protocom::huggingface {
namespace {

constexpr int64_t kMostSide = 32;                   // in published networks: BEiT for images of 512 pixels
constexpr int64_t kMostValues = int64_t{1} << 29U;  // 2 GiB
constexpr int64_t kClassRows = 3;
constexpr int64_t kMostInside = 4096;  // in the network that computes biases; published ones have 512

/// Returns the row of the table for each pair of tokens, [t, t].
at::Tensor table_rows(int64_t side, bool class_token) {
  const int64_t far = 2 * side - 1;
  const at::Tensor line = at::arange(side, at::kLong);
  const auto apart = [&](const at::Tensor& places) {
    const at::Tensor flat = places.expand({side, side}).flatten();
    return flat.unsqueeze(1) - flat.unsqueeze(0) + side - 1;
  };
  const at::Tensor patches = apart(line.view({-1, 1})) * far + apart(line.view({1, -1}));
  if (!class_token) return patches;
  at::Tensor rows = at::empty({side * side + 1, side * side + 1}, at::kLong);
  rows.slice(0, 1).slice(1, 1).copy_(patches);
  rows.select(0, 0).fill_(far * far);
  rows.select(1, 0).fill_(far * far + 1);
  rows.select(0, 0).select(0, 0).fill_(far * far + 2);
  return rows;
}

/// Returns the rows of a table [rows, heads] for each pair of tokens: [heads, t, t].
at::Tensor spread(const at::Tensor& table, int64_t side, bool class_token) {
  const int64_t tokens = side * side + (class_token ? 1 : 0);
  return table.index_select(0, table_rows(side, class_token).flatten().to(table.device()))
      .view({tokens, tokens, table.size(1)})
      .permute({2, 0, 1});
}

}  // namespace

void RelativeBiases::count(const std::string& name, int64_t heads, int64_t tokens) {
  if (heads > (kMostValues - values_) / (tokens * tokens))
    fail("tensor '{}': the biases of attention take more than {} MiB", name, kMostValues * 4 >> 20U);
  values_ += heads * tokens * tokens;
}

at::Tensor RelativeBiases::take(const std::string& name, bool class_token) {
  const at::Tensor table = weights_.take(name, {-1, -1});
  const int64_t rows = table.size(0) - (class_token ? kClassRows : 0), heads = table.size(1);
  const int64_t side = rows > 0 ? (std::lround(std::sqrt(static_cast<double>(rows))) + 1) / 2 : 0;
  if (side < 1 || side > kMostSide || (2 * side - 1) * (2 * side - 1) != rows)
    fail("tensor '{}' is [{}, {}], expected [(2 g - 1)^2{}, heads] for a grid of g x g places, g at most {}", name,
         table.size(0), heads, class_token ? " + 3" : "", kMostSide);
  const int64_t tokens = side * side + (class_token ? 1 : 0);
  count(name, heads, tokens);
  return spread(table, side, class_token);
}

at::Tensor RelativeBiases::compute(const std::string& name, int64_t side, int64_t pretrained) {
  if (side > kMostSide || pretrained == 1)
    fail("config.json: windows of {} places made from {}, expected at most {} made from 2 or more", side, pretrained,
         kMostSide);
  const at::Tensor first = weights_.take(name + ".0.weight", {-1, 2});
  if (first.size(0) > kMostInside)
    fail("tensor '{}.0.weight' is [{}, 2], expected at most {} rows", name, first.size(0), kMostInside);
  const at::Tensor last = weights_.take(name + ".2.weight", {-1, first.size(0)});
  const at::Tensor bias = weights_.take(name + ".0.bias", {first.size(0)});
  count(name, last.size(0), side * side);
  constexpr double kReach = 8;
  const double far = static_cast<double>(pretrained > 0 ? pretrained - 1 : std::max<int64_t>(side - 1, 1));
  const at::Tensor apart = at::arange(-(side - 1), side, first.options()) * (kReach / far);
  const at::Tensor line = at::sign(apart) * at::log2(at::abs(apart) + 1) / std::log2(kReach);
  const int64_t count = line.size(0);
  const at::Tensor places =
      at::stack({line.view({-1, 1}).expand({count, count}), line.view({1, -1}).expand({count, count})}, -1)
          .flatten(0, 1);
  const at::Tensor table = at::linear(at::relu(at::linear(places, first, bias)), last);
  constexpr double kMostBias = 16;
  return at::sigmoid(spread(table, side, /*class_token=*/false)) * kMostBias;
}

}  // namespace protocom::huggingface
