#pragma once
#include <ATen/core/Tensor.h>

#include "protocom/core/rng.h"
#include "protocom/data/episodes.h"
#include "protocom/train/metatrain.h"
#include "train/joint_head.h"

namespace protocom {

/// What an episode gives to learn from.
struct EpisodeOutcome {
  at::Tensor loss;      ///< mean cross-entropy of the queries (equation 5), differentiable
  at::Tensor accuracy;  ///< of the queries, float64 in [0, 1]
};

/// Episodes of joint meta-training: images varied, embedded, and classified by the head.
class EpisodeLoss {
 public:
  /// `pixels` uint8 [images, size, size, 3]. The backbone and the rest must outlive it; the backbone and the head are
  /// on `device`.
  EpisodeLoss(const at::Tensor& pixels, Backbone& backbone, const JointHead& head, const MetatrainOptions& options,
              c10::Device device);

  /// Image i is varied by rng.fork(0).fork(i), attribute features come from rng.fork(1).
  [[nodiscard]] EpisodeOutcome operator()(const Episode& episode, const Rng& rng) const;

 private:
  [[nodiscard]] at::Tensor images_of(const Episode& episode, const Rng& rng) const;
  [[nodiscard]] at::Tensor embed(const at::Tensor& images) const;

  at::Tensor pixels_;
  Backbone& backbone_;
  const JointHead& head_;
  const MetatrainOptions& options_;
  c10::Device device_;
  Precision precision_;
};

}  // namespace protocom
