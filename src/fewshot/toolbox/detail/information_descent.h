#pragma once
#include <vector>

#include "fewshot/toolbox/detail/episode_points.h"
#include "fewshot/toolbox/detail/information_kernels.h"
#include "fewshot/toolbox/detail/row_episode.h"

namespace protocom {

struct DescentOptions {
  double rate = 1e-4;
  int64_t steps = 1000;
};

/// Logits [b, m, n] of points by class weights [b, n, d]: temperature (x.w - |w|^2 / 2).
at::Tensor euclidean_logits(const at::Tensor& points, const at::Tensor& weights, double temperature);

/// Class weights float32 [b, n, d] after steps of Adam on the loss, from the class means: an episode after the other,
/// with a form of its own since a step is some forty operators on a few hundred numbers.
at::Tensor information_descent(const EpisodePoints& points, const InformationLoss& loss, const DescentOptions& options);

/// The logits by those weights of one episode after the other, whose rows are read where they lie.
class InformationRun : public RowRun {
 public:
  InformationRun(const InformationLoss& loss, const DescentOptions& options);
  void answer(const RowEpisode& episode, float* logits) override;

 private:
  InformationLoss loss_;
  DescentOptions options_;
  Floats labels_;   // [n, s + u]
  Floats weights_;  // [n, dim]
};

}  // namespace protocom
