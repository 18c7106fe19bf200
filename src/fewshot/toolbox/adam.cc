#include "fewshot/toolbox/detail/adam.h"

#include "fewshot/detail/processor_vectors.h"

namespace protocom {
namespace {

/// `rate` and `inverse_root` correct for moments that began at 0.
PROTOCOM_INLINE void adam_body(const FloatMatrix& gradient, float rate, float inverse_root, FloatMatrix* moments,
                               FloatMatrix& weights) {
  const float* __restrict g = gradient.data();
  float* __restrict first = moments[0].data();
  float* __restrict second = moments[1].data();
  float* __restrict w = weights.data();
  for (int64_t i = 0; i < gradient.size(); ++i) {
    first[i] = 0.9F * first[i] + 0.1F * g[i];
    second[i] = 0.999F * second[i] + 0.001F * (g[i] * g[i]);
    w[i] -= rate * first[i] / (__builtin_sqrtf(second[i]) * inverse_root + 1e-8F);
  }
}

PROTOCOM_FORMS(adam, void,
               (const FloatMatrix& gradient, float rate, float inverse_root, FloatMatrix* moments,
                FloatMatrix& weights),
               adam_body, (gradient, rate, inverse_root, moments, weights))

}  // namespace

void Adam::step(const FloatMatrix& gradient, FloatMatrix& weights) {
  if (++steps_ == 1) moments_[0] = moments_[1] = FloatMatrix::Zero(weights.rows(), weights.cols());
  const auto steps = static_cast<double>(steps_);
  adam_form()(gradient, static_cast<float>(rate_ / (1 - std::pow(0.9, steps))),
              static_cast<float>(1 / std::sqrt(1 - std::pow(0.999, steps))), moments_, weights);
}

}  // namespace protocom
