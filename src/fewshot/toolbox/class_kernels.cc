#include "fewshot/toolbox/detail/class_kernels.h"

#include "fewshot/detail/processor_vectors.h"

namespace protocom {
namespace {

template <typename Cpu>
PROTOCOM_INLINE void exponentials_body(float* logits, int64_t n, int64_t stride) {
  using Vector = typename Cpu::Vector;
  for (int64_t i = 0; i < stride; i += kLanes<Cpu>) {
    Vector most = at<Cpu>(logits + i).vector;
    for (int64_t k = 1; k < n; ++k) {
      const Vector logit = at<Cpu>(logits + k * stride + i).vector;
      most = logit > most ? logit : most;
    }
    for (int64_t k = 0; k < n; ++k) {
      float* values = logits + k * stride + i;
      at<Cpu>(values).vector -= most;
      exponentiate<Cpu>(values);
    }
  }
}

template <typename Cpu>
PROTOCOM_INLINE void shares_body(const float* factors, float* values, int64_t n, int64_t stride) {
  using Vector = typename Cpu::Vector;
  for (int64_t i = 0; i < stride; i += kLanes<Cpu>) {
    Vector total = {};
    for (int64_t k = 0; k < n; ++k)
      total += (factors == nullptr ? 1.0F : factors[k]) * at<Cpu>(values + k * stride + i).vector;
    const Vector inverse = 1.0F / total;
    for (int64_t k = 0; k < n; ++k)
      at<Cpu>(values + k * stride + i).vector *= (factors == nullptr ? 1.0F : factors[k]) * inverse;
  }
}

}  // namespace

PROTOCOM_KERNEL(exponentials_of_classes, void, (float* logits, int64_t n, int64_t stride), exponentials_body<Cpu>,
                (logits, n, stride))
PROTOCOM_KERNEL(shares_of_classes, void, (const float* factors, float* values, int64_t n, int64_t stride),
                shares_body<Cpu>, (factors, values, n, stride))

}  // namespace protocom
