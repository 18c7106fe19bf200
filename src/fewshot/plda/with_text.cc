#include "fewshot/plda/detail/with_text.h"

#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "fewshot/answer_formula.h"
#include "fewshot/toolbox/detail/feature_space.h"
#include "fewshot/toolbox/detail/task_matrix.h"

namespace protocom {
namespace {

/// Data shared by runs.
struct PhotosAndTexts {
  PreparedMethod photos;
  ClassText text;
  TextWeights weights;
  std::shared_ptr<const FeatureTransform> unit = nullptr;  // unit length, for comparing texts and images
  mutable std::once_flag warned = {};

  PhotosAndTexts(PreparedMethod from, const MethodContext& context, const TextWeights& given)
      : photos(std::move(from)), text(context), weights(given), unit(feature_space("l2n", context)) {}

  /// Warns once if texts distinguish the labelled images no better than chance: vectors of another encoder may have the
  /// right length. `at_unit_length` is a task of such rows.
  void warn_of_other_texts(const Task& at_unit_length) const;
};

void PhotosAndTexts::warn_of_other_texts(const Task& at_unit_length) const {
  constexpr int64_t kFewest = 10;
  const Task& task = at_unit_length;
  if (task.n < 2 || task.supports() < kFewest) return;
  FloatMatrix cosines(task.supports(), task.n);
  text.compute_cosines(task, 0, task.supports(), cosines.data());
  int64_t right = 0;
  for (int64_t i = 0; i < cosines.rows(); ++i) {
    Eigen::Index best = 0;
    cosines.row(i).maxCoeff(&best);
    right += best == task.label[static_cast<size_t>(i)] ? 1 : 0;
  }
  // Three standard deviations of a binomial above chance.
  const double chance = 1.0 / static_cast<double>(task.n), count = static_cast<double>(task.supports());
  if (static_cast<double>(right) > count * chance + 3 * std::sqrt(count * chance * (1 - chance))) return;
  std::call_once(warned, [&] {
    logger().warn(
        "the texts classify labelled images no better than chance ({} of {} right): check that they were made by the "
        "image encoder's own text encoder",
        right, task.supports());
  });
}

/// A run on tasks whose rows are features.
class PhotosAndTextsRun : public TaskRun, public TaskFormula {
 public:
  explicit PhotosAndTextsRun(std::shared_ptr<const PhotosAndTexts> with) : with_(std::move(with)) {}

  void answer(const Task& task, float* logits) override {
    const MappedTask at_unit_length(task, with_->unit.get());
    auto answers = matrix_at(logits, task);
    with_->text.compute_cosines(at_unit_length.task(), logits);
    unseen_.resize(0);
    if (task.supports() == 0) {
      answers *= static_cast<float>(with_->weights.alone);
      return;
    }
    answers *= static_cast<float>(with_->weights.beside);
    with_->warn_of_other_texts(at_unit_length.task());
    const MappedTask photos(task, with_->photos.space.get());
    const auto run = with_->photos.make_run();
    const QueryScores scores = answer_of(*run, photos.task());
    answers += scores.logits;
    // "None of these" is a logit beside those of the classes: it shifts with their log-sum, so that its odds stay those
    // of the photos.
    if (scores.unseen.size() > 0)
      unseen_ = scores.unseen + (log_sum_exp(answers) - log_sum_exp(scores.logits)).cast<float>();
  }
  [[nodiscard]] const float* unseen() const override { return unseen_.size() > 0 ? unseen_.data() : nullptr; }

  [[nodiscard]] std::optional<AnswerFormula> formula(const TaskImages& images) const override {
    const FloatMatrix texts = with_->text.vectors_of(images.numbers, images.width);
    AnswerFormula made;
    if (images.label.empty()) {
      made.rows = texts;
      made.scale = with_->weights.alone;
      return made;
    }
    const ClassPlacer* placer = with_->photos.placer.get();
    const auto* states = dynamic_cast<const PlacedFormula*>(placer);
    if (states == nullptr) return std::nullopt;
    made = states->formula(placer->place(images), images.width);
    made.texts = static_cast<float>(with_->weights.beside) * texts;
    return made;
  }

 private:
  std::shared_ptr<const PhotosAndTexts> with_;
  Eigen::VectorXf unseen_;
};

}  // namespace

PreparedMethod with_text(PreparedMethod photos, const MethodContext& context, const TextWeights& weights) {
  const auto with = std::make_shared<const PhotosAndTexts>(std::move(photos), context, weights);
  PreparedMethod method;
  method.make_run = [with] { return std::make_unique<PhotosAndTextsRun>(with); };
  method.fewest_shots = 0;
  return method;
}

}  // namespace protocom
