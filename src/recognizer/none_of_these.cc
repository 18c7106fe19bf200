#include "recognizer/detail/none_of_these.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

constexpr double kPenalty = 1e-3;  // of the standardised slope: images that can be told apart have an answer too
constexpr double kLeastSlope = 1e-2;
constexpr int kSteps = 30;

/// A whole number, however large: of a tiny rate it is beyond every integer type.
std::string count_text(double count) {
  return count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:g}", count);
}

/// Of the strangers in order, from 1; above their number where they are too few.
int64_t place_of(const Familiarities& of, double rate) {
  const auto n = static_cast<double>(of.strangers.numel());
  return to_whole<int64_t>(std::ceil((n + 1) * (1 - rate / of.likelier) - 1e-9));
}

double at_place(const Familiarities& of, int64_t place) {
  return std::get<0>(of.strangers.sort())[place - 1].item<double>();
}

}  // namespace

double share_of(const at::Tensor& which) { return which.to(at::kDouble).mean().item<double>(); }

double threshold_of(const Familiarities& of, double rate) {
  const int64_t n = of.strangers.numel();
  const int64_t place = place_of(of, rate);
  if (place > n) {
    const double own = rate / of.likelier;
    fail(
        "a false-accept rate of {} needs at least {} images of none of the classes, there are {}: give more by "
        "--others, or ask for {:.3f} or more",
        rate, count_text(std::ceil((1 - own) / own - 1e-9)), n,
        std::ceil(1000 * of.likelier / static_cast<double>(n + 1)) / 1000);
  }
  return at_place(of, place);
}

double balanced_threshold(const Familiarities& of) {
  const at::Tensor all = std::get<0>(at::cat({of.own, of.strangers}).sort());
  double best = all[0].item<double>(), least = 2;
  for (int64_t i = 0; i < all.numel(); ++i) {
    const double threshold = all[i].item<double>();
    const double apart = std::abs(share_of(of.strangers.gt(threshold)) - share_of(of.own.le(threshold)));
    if (!(apart < least)) continue;
    least = apart;
    best = threshold;
  }
  return best;
}

Exchange exchange_at(const Familiarities& of, double threshold) {
  return {std::min(1.0, of.likelier * share_of(of.strangers.gt(threshold))), share_of(of.own.gt(threshold)), threshold};
}

std::vector<Exchange> exchanges_of(const Familiarities& of) {
  std::vector<Exchange> found;
  for (const double rate : kExchangeRates) {
    const int64_t place = place_of(of, rate);
    if (place > of.strangers.numel()) continue;
    const double threshold = at_place(of, place);
    found.push_back({rate, exchange_at(of, threshold).accepted, threshold});
  }
  return found;
}

double slope_of(const Familiarities& of) {
  const at::Tensor all = at::cat({of.own, of.strangers});
  const double deviation = std::max(all.std().item<double>(), 1e-12);
  const at::Tensor x = (all - all.mean()) / deviation;
  const at::Tensor is = at::cat({at::ones_like(of.own), at::zeros_like(of.strangers)});
  const at::Tensor weight = at::cat({at::full_like(of.own, 0.5 / static_cast<double>(of.own.numel())),
                                     at::full_like(of.strangers, 0.5 / static_cast<double>(of.strangers.numel()))});
  const at::Tensor design = at::stack({x, at::ones_like(x)}, 1);
  at::Tensor found = at::zeros({2}, at::kDouble);
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor p = at::mv(design, found).sigmoid();
    const at::Tensor gradient = at::mv(design.t(), weight * (p - is)) + kPenalty * found;
    const at::Tensor curvature =
        at::mm(design.t(), design * (weight * p * (1 - p)).unsqueeze(1)) + kPenalty * at::eye(2, at::kDouble);
    found = found - at::linalg_solve(curvature, gradient);
  }
  return std::max(found[0].item<double>(), kLeastSlope) / deviation;
}

}  // namespace protocom
