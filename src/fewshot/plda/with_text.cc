#include "fewshot/plda/with_text.h"

#include <ATen/ATen.h>

#include "protocom/nn/unit_vectors.h"

namespace protocom {
namespace {

bool has_photos(const EpisodeBatch& batch) {
  if (!batch.support.defined() || batch.support.size(2) == 0) return false;
  return !batch.support_mask.defined() || batch.support_mask.ne(0).any().item<bool>();
}

class PhotosAndTexts : public Scorer {
 public:
  PhotosAndTexts(std::unique_ptr<Scorer> photos, const MethodContext& context, const TextWeights& weights)
      : photos_(std::move(photos)), text_(context), weights_(weights) {}

 private:
  [[nodiscard]] int64_t fewest_shots() const override { return 0; }
  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const at::Tensor cosines = text_.cosines(unit_vectors(batch.query), batch.classes);
    if (!has_photos(batch)) return {weights_.alone * cosines, at::Tensor()};
    EpisodeScores scores = photos_->score(batch);
    const at::Tensor logits = scores.logits + weights_.beside * cosines;
    if (scores.unseen.defined()) scores.unseen = scores.unseen - scores.logits.logsumexp(-1) + logits.logsumexp(-1);
    return {logits, at::Tensor(), scores.unseen};
  }

  std::unique_ptr<Scorer> photos_;
  ClassText text_;
  TextWeights weights_;
};

}  // namespace

std::unique_ptr<Scorer> with_text(std::unique_ptr<Scorer> photos, const MethodContext& context,
                                  const TextWeights& weights) {
  return std::make_unique<PhotosAndTexts>(std::move(photos), context, weights);
}

}  // namespace protocom
