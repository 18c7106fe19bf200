#include "fewshot/detail/method_definition.h"

namespace protocom {
namespace {

class AnsweringScorer : public Scorer {
 public:
  AnsweringScorer(Answer answer, std::shared_ptr<const FeatureTransform> map, int64_t fewest_shots)
      : answer_(std::move(answer)), map_(std::move(map)), fewest_shots_(fewest_shots) {}
  [[nodiscard]] std::shared_ptr<const FeatureTransform> feature_transform() const override { return map_; }

 private:
  [[nodiscard]] int64_t fewest_shots() const override { return fewest_shots_; }
  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override { return answer_(batch); }

  Answer answer_;
  std::shared_ptr<const FeatureTransform> map_;
  int64_t fewest_shots_;
};

}  // namespace

std::unique_ptr<Scorer> scorer_of(Answer answer, std::shared_ptr<const FeatureTransform> map, int64_t fewest_shots) {
  return std::make_unique<AnsweringScorer>(std::move(answer), std::move(map), fewest_shots);
}

}  // namespace protocom
