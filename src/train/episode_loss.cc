#include "train/episode_loss.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "protocom/features/extract.h"
#include "train/augment_batch.h"

namespace protocom {

EpisodeLoss::EpisodeLoss(const at::Tensor& pixels, Backbone& backbone, const JointHead& head,
                         const MetatrainOptions& options, c10::Device device)
    : pixels_(pixels),
      backbone_(backbone),
      head_(head),
      options_(options),
      device_(device),
      precision_(resolve_precision(options.precision, device)) {}

EpisodeOutcome EpisodeLoss::operator()(const Episode& episode, const Rng& rng) const {
  const at::Tensor features = embed(images_of(episode, rng.fork(0)));  // [n * (k + q), d]
  const EpisodeShape& shape = options_.episode;
  const int64_t supports = shape.n_way * shape.k_shot;
  const EpisodeFeatures task{episode.classes, features.slice(0, 0, supports).view({shape.n_way, shape.k_shot, -1}),
                             features.slice(0, supports)};
  at::Generator noise = at::make_generator<at::CPUGeneratorImpl>(rng.fork(1).next());
  const at::Tensor logits = head_.logits(task, noise);  // [n * q, n]
  const at::Tensor truth = at::arange(shape.n_way).repeat_interleave(shape.n_query).to(device_);
  return {at::cross_entropy_loss(logits, truth), logits.argmax(1).eq(truth).to(at::kDouble).mean()};
}

/// uint8 [n * (k + q), size, size, 3] on the device: supports by class, then queries by class.
at::Tensor EpisodeLoss::images_of(const Episode& episode, const Rng& rng) const {
  std::vector<int64_t> rows;
  for (const auto* side : {&episode.support, &episode.query}) {
    for (const auto& group : *side) rows.insert(rows.end(), group.begin(), group.end());
  }
  const at::Tensor images = pixels_.index_select(0, at::tensor(rows, at::kLong)).to(device_);
  const AugmentOptions& augment = options_.augment;
  if (augment.crop_padding == 0 && augment.colour_jitter == 0 && augment.flip_probability == 0) return images;
  std::vector<AugmentDraw> draws;
  for (uint64_t i = 0; i < rows.size(); ++i) {
    Rng own = rng.fork(i);
    draws.push_back(draw_augmentation(augment, images.size(1), own));
  }
  const at::Tensor all = at::arange(images.size(0), images.options().dtype(at::kLong));
  return augment_batch(images, all, stack_draws(draws).to(device_));
}

at::Tensor EpisodeLoss::embed(const at::Tensor& images) const {
  const PrecisionScope scope(precision_, device_);
  return backbone_.forward(to_float_images(images));
}

}  // namespace protocom
