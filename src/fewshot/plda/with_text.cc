#include "fewshot/plda/detail/with_text.h"

#include <ATen/ATen.h>

#include <cmath>
#include <mutex>

#include "base/log.h"
#include "tensors/unit_vectors.h"

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
    warn_of_other_texts(batch);
    EpisodeScores scores = photos_->score(batch);
    const at::Tensor logits = scores.logits + weights_.beside * cosines;
    // "None of these" is a logit beside those of the classes: it moves with their sum, so that its odds stay the
    // photos'.
    if (scores.unseen.defined()) scores.unseen = scores.unseen - scores.logits.logsumexp(-1) + logits.logsumexp(-1);
    return {logits, at::Tensor(), scores.unseen};
  }

  /// Says once where texts tell the labelled images apart no better than chance: vectors of another encoder may have
  /// the right length.
  void warn_of_other_texts(const EpisodeBatch& batch) const {
    constexpr int64_t kFewest = 10;
    const int64_t classes = batch.support.size(1);
    const at::Tensor images = unit_vectors(batch.support.flatten(1, 2));  // [b, n k, d]
    const at::Tensor own = at::arange(classes, at::kLong).repeat_interleave(batch.support.size(2)).unsqueeze(0);
    at::Tensor right = text_.cosines(images, batch.classes).argmax(-1).eq(own).to(at::kFloat);
    double count = static_cast<double>(right.numel());
    if (batch.support_mask.defined()) {
      right = right * batch.support_mask.flatten(1);
      count = batch.support_mask.sum().item<double>();
    }
    // Three standard deviations of a binomial above chance.
    const double chance = 1.0 / static_cast<double>(classes);
    const double sum = right.sum().item<double>();
    if (classes < 2 || count < kFewest || sum > count * chance + 3 * std::sqrt(count * chance * (1 - chance))) return;
    std::call_once(warned_, [&] {
      logger().warn(
          "the texts tell labelled images apart no better than chance ({:.0f} of {:.0f} right): they seem to be of "
          "another text encoder than the image encoder's own",
          sum, count);
    });
  }

  std::unique_ptr<Scorer> photos_;
  ClassText text_;
  TextWeights weights_;
  mutable std::once_flag warned_;
};

}  // namespace

std::unique_ptr<Scorer> with_text(std::unique_ptr<Scorer> photos, const MethodContext& context,
                                  const TextWeights& weights) {
  return std::make_unique<PhotosAndTexts>(std::move(photos), context, weights);
}

}  // namespace protocom
