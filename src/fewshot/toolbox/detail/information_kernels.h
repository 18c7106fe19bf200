#pragma once
#include <cstdint>

namespace protocom {

/// The loss of TIM (Boudiaf et al., NeurIPS 2020): cross_entropy CE(supports) - marginal H(mean of p) + conditional
/// (mean of H(p)), p the queries' probabilities from logits temperature (x.w - |w|^2 / 2).
/// H is Shannon's entropy, or with alpha != 1 Tsallis's (1 - sum p^alpha) / (alpha - 1) (alpha-TIM, Veilleux et al.,
/// NeurIPS 2021).
struct InformationLoss {
  double temperature = 15;
  double cross_entropy = 1;
  double marginal = 1;
  double conditional = 1;
  double alpha = 1;
};

/// One episode's points, class by class. All rows are [stride], a multiple of kRowMultiple (row_kernels.h), filled up
/// with zeros.
struct InformationPoints {
  const float* labels = nullptr;  ///< [n, stride]: 1 for the class of a support
  const float* shares = nullptr;  ///< [stride]: weight of a support's cross-entropy, 0 for other points
  const float* open = nullptr;    ///< [stride]: 1 / number of unlabelled points for each of them, else 0
  int64_t n = 0;
  int64_t stride = 0;
  float* work = nullptr;  ///< [(n + 1) * stride + (kRowMultiple + 1) * n]
};

/// Products x.w [n, stride] become the loss's slopes in the logits, in place; half_squares are |w|^2 / 2, [n].
void information_slopes(const InformationPoints& points, const InformationLoss& loss, const float* half_squares,
                        float* products);

/// One step of Adam (Kingma and Ba, 2015; beta .9 and .999, epsilon 1e-8) for the weights of one class. The gradient is
/// factor (pull - push w).
struct AdamStep {
  const float* pull = nullptr;  ///< [dim]
  float push = 0;
  float factor = 1;
  float rate = 0;         ///< over 1 - .9^step
  float root_weight = 1;  ///< square root of 1 - .999^step
  int64_t dim = 0;
  float* first = nullptr;   ///< [dim], moments of the gradients so far
  float* second = nullptr;  ///< [dim]
};
void adam_step(const AdamStep& step, float* weights);

/// What step `number`, from 1 on, has of the learning rate; the rest is for the caller to set.
AdamStep adam_at(int64_t number, double rate, int64_t dim);

}  // namespace protocom
