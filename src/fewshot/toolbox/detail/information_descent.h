#pragma once
#include "base/matrix.h"
#include "fewshot/task.h"

namespace protocom {

/// The loss of TIM (Boudiaf et al., NeurIPS 2020): cross_entropy CE(supports) - marginal H(mean of p) + conditional
/// (mean of H(p)), p the queries' probabilities from logits multiplied by the temperature.
/// H is Shannon's entropy, or with alpha != 1 Tsallis's (1 - sum p^alpha) / (alpha - 1) (alpha-TIM, Veilleux et al.,
/// NeurIPS 2021).
struct InformationLoss {
  double temperature = 15;
  double cross_entropy = 1;
  double marginal = 1;
  double conditional = 1;
  double alpha = 1;
};

/// A class's logit for a point x, given its weights w, before the temperature.
enum class LogitForm {
  kEuclidean,  ///< x.w - |w|^2 / 2: minus half the squared distance, up to |x|^2 / 2
  kCosine,     ///< x.w / |w|, for x of unit length
  kDistance    ///< -|x - w|
};

struct DescentOptions {
  double rate = 1e-4;
  int64_t steps = 1000;
  LogitForm form = LogitForm::kEuclidean;
};

/// Replaces logits [n, m] by the loss's derivatives in them, in place. `labels` [n, s] are 1 for the class of each
/// support, which come first; a support without a label is left out.
void information_slopes(const InformationLoss& loss, const FloatMatrix& labels, FloatMatrix& logits);

/// Computes the queries' logits [q, n] with class weights w after steps of Adam on the loss, starting from the class
/// means.
void answer_by_information(const Task& task, const InformationLoss& loss, const DescentOptions& options, float* logits);

}  // namespace protocom
