#include "fewshot/toolbox/detail/information_kernels.h"

#include <cmath>

#include "fewshot/detail/processor_vectors.h"
#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

constexpr double kTiny = 1e-12;

/// Where the work lies.
struct Space {
  float* p;       // [n, stride]
  float* totals;  // [stride]
  float* means;   // [n, kRowMultiple], then summed into slopes
  float* slopes;  // [n]
};

PROTOCOM_INLINE Space space_of(const InformationPoints& points) {
  float* totals = points.work + points.n * points.stride;
  float* means = totals + points.stride;
  return {points.work, totals, means, means + points.n * kRowMultiple};
}

/// Derivative of the entropy in a probability, but for what all classes share.
double entropy_slope(double p, double alpha) {
  if (alpha == 1) return -std::log(p + kTiny);
  return -alpha / (alpha - 1) * std::pow(p, alpha - 1);
}

/// The products of some points become logits less the largest, p their softmax.
template <typename Cpu>
PROTOCOM_INLINE void probabilities(const InformationPoints& points, float temperature, const float* half_squares,
                                   int64_t i, float* products) {
  using Vector = typename Cpu::Vector;
  const Space space = space_of(points);
  Vector most = temperature * (at<Cpu>(products + i).vector - half_squares[0]);
  for (int64_t k = 0; k < points.n; ++k) {
    float* values = products + k * points.stride + i;
    const Vector logit = temperature * (at<Cpu>(values).vector - half_squares[k]);
    at<Cpu>(values).vector = logit;
    most = logit > most ? logit : most;
  }
  Vector total = {};
  for (int64_t k = 0; k < points.n; ++k) {
    const int64_t at_k = k * points.stride + i;
    at<Cpu>(products + at_k).vector -= most;
    at<Cpu>(space.p + at_k).vector = at<Cpu>(products + at_k).vector;
    exponentiate<Cpu>(space.p + at_k);
    total += at<Cpu>(space.p + at_k).vector;
  }
  at<Cpu>(space.totals + i).vector = total;
  const Vector open = at<Cpu>(points.open + i).vector;
  for (int64_t k = 0; k < points.n; ++k) {
    const Vector p = at<Cpu>(space.p + k * points.stride + i).vector / total;
    at<Cpu>(space.p + k * points.stride + i).vector = p;
    at<Cpu>(space.means + k * kRowMultiple).vector += open * p;
  }
}

/// Logits less the largest of some points become the entropy's slopes in p.
template <typename Cpu>
PROTOCOM_INLINE void slopes_in_p(const InformationPoints& points, float alpha, int64_t i, float* logits) {
  using Vector = typename Cpu::Vector;
  constexpr float kMost = 87.0F;  // e to more would not be finite
  const Space space = space_of(points);
  for (int64_t k = 0; k < points.n; ++k) {
    float* values = logits + k * points.stride + i;
    if (alpha == 2) {
      at<Cpu>(values).vector = -2 * at<Cpu>(space.p + k * points.stride + i).vector;
      continue;
    }
    const Vector log_p = at<Cpu>(values).vector - at<Cpu>(space.totals + i).vector;
    const Vector power = (alpha - 1) * log_p;
    at<Cpu>(values).vector = alpha == 1 ? -log_p : power > kMost ? Vector{} + kMost : power;
    if (alpha == 1) continue;
    exponentiate<Cpu>(values);
    at<Cpu>(values).vector *= -alpha / (alpha - 1);
  }
}

/// Slopes in p become those of the whole loss in the logits. A support's is p - y, written as minus the others' sum
/// where y is 1, which 1 - p would round away.
template <typename Cpu>
PROTOCOM_INLINE void slopes_in_logits(const InformationPoints& points, float conditional, int64_t i, float* slopes) {
  using Vector = typename Cpu::Vector;
  const Space space = space_of(points);
  Vector inner = {};
  Vector others = {};
  for (int64_t k = 0; k < points.n; ++k) {
    const int64_t at_k = k * points.stride + i;
    const Vector p = at<Cpu>(space.p + at_k).vector;
    const Vector slope = conditional * at<Cpu>(slopes + at_k).vector - space.slopes[k];
    at<Cpu>(slopes + at_k).vector = slope;
    inner += p * slope;
    others += p * (1 - at<Cpu>(points.labels + at_k).vector);
  }
  const Vector share = at<Cpu>(points.shares + i).vector;
  const Vector open = at<Cpu>(points.open + i).vector;
  for (int64_t k = 0; k < points.n; ++k) {
    const int64_t at_k = k * points.stride + i;
    const Vector p = at<Cpu>(space.p + at_k).vector;
    const Vector label = at<Cpu>(points.labels + at_k).vector;
    const Vector slope = at<Cpu>(slopes + at_k).vector;
    at<Cpu>(slopes + at_k).vector = share * ((1 - label) * p - label * others) + open * p * (slope - inner);
  }
}

template <typename Cpu>
PROTOCOM_INLINE void slopes_body(const InformationPoints& points, const InformationLoss& loss,
                                 const float* half_squares, float* products) {
  const Space space = space_of(points);
  std::memset(space.means, 0, static_cast<size_t>(points.n * kRowMultiple) * sizeof(float));
  for (int64_t i = 0; i < points.stride; i += kLanes<Cpu>)
    probabilities<Cpu>(points, static_cast<float>(loss.temperature), half_squares, i, products);
  for (int64_t k = 0; k < points.n; ++k) {
    const typename Cpu::Vector sums = at<Cpu>(space.means + k * kRowMultiple).vector;
    space.slopes[k] = static_cast<float>(loss.marginal * entropy_slope(lane_sum(sums), loss.alpha));
  }
  if (loss.alpha != 2) {
    for (int64_t i = 0; i < points.stride; i += kLanes<Cpu>) log_from_one<Cpu>(space.totals + i);
  }
  for (int64_t i = 0; i < points.stride; i += kLanes<Cpu>) {
    slopes_in_p<Cpu>(points, static_cast<float>(loss.alpha), i, products);
    slopes_in_logits<Cpu>(points, static_cast<float>(loss.conditional), i, products);
  }
}

PROTOCOM_INLINE void adam_body(const AdamStep& step, float* weights) {
  constexpr float kFirst = 0.9F;
  constexpr float kSecond = 0.999F;
  constexpr float kEpsilon = 1e-8F;
  const float* __restrict pull = step.pull;
  float* __restrict first = step.first;
  float* __restrict second = step.second;
  float* __restrict w = weights;
  const float inverse_root = 1 / step.root_weight;
  for (int64_t d = 0; d < step.dim; ++d) {
    const float gradient = step.factor * (pull[d] - step.push * w[d]);
    first[d] = kFirst * first[d] + (1 - kFirst) * gradient;
    second[d] = kSecond * second[d] + (1 - kSecond) * (gradient * gradient);
    w[d] -= step.rate * first[d] / (__builtin_sqrtf(second[d]) * inverse_root + kEpsilon);
  }
}

}  // namespace

PROTOCOM_KERNEL(information_slopes, void,
                (const InformationPoints& points, const InformationLoss& loss, const float* half_squares,
                 float* products),
                slopes_body<Cpu>, (points, loss, half_squares, products))
AdamStep adam_at(int64_t number, double rate, int64_t dim) {
  const auto steps = static_cast<double>(number);
  AdamStep adam;
  adam.rate = static_cast<float>(rate / (1 - std::pow(0.9, steps)));
  adam.root_weight = static_cast<float>(std::sqrt(1 - std::pow(0.999, steps)));
  adam.dim = dim;
  return adam;
}

PROTOCOM_KERNEL(adam_step, void, (const AdamStep& step, float* weights), adam_body, (step, weights))

}  // namespace protocom
