#pragma once
#include "fewshot/episode_points.h"

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

struct DescentOptions {
  double rate = 1e-4;
  int64_t steps = 1000;
};

/// Logits [b, m, n] of points by class weights [b, n, d]: temperature (x.w - |w|^2 / 2).
at::Tensor euclidean_logits(const at::Tensor& points, const at::Tensor& weights, double temperature);

/// Class weights [b, n, d] after steps of Adam on the loss, from the class means.
at::Tensor information_descent(const EpisodePoints& points, const InformationLoss& loss, const DescentOptions& options);

}  // namespace protocom
