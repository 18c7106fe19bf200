#include "trainers/detail/not_learning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/to_whole.h"

namespace protocom {
namespace {

constexpr int64_t kImagesAClass = 50;

/// Returns the first epoch, from 1, that begins after the warm-up; the last one if there is none.
int64_t first_judged(const Schedule& schedule) {
  const auto warm = to_whole<int64_t>(std::ceil(schedule.warm_up * static_cast<double>(schedule.epochs)));
  return std::min(warm + 1, schedule.epochs);
}

/// Returns the usual rate, or a fifth of the rate if that is near the usual one.
double better_rate(double rate, double usual) {
  constexpr double kNear = 2;
  return rate > usual / kNear && rate < usual * kNear ? rate / 5 : usual;
}

}  // namespace

LearningWatch::LearningWatch(int64_t classes, const Schedule& schedule, double usual_rate)
    : classes_(classes),
      learning_rate_(schedule.learning_rate),
      usual_rate_(usual_rate),
      first_epoch_(first_judged(schedule)) {}

std::string LearningWatch::add(int64_t epoch, const EpochSums& sums) {
  if (classes_ < 2 || epoch < first_epoch_) return "";
  unjudged_.correct += sums.correct;
  unjudged_.count += sums.count;
  if (unjudged_.count < static_cast<double>(kImagesAClass * classes_)) return "";
  const EpochSums judged = std::exchange(unjudged_, {});
  const double chance = 1 / static_cast<double>(classes_);
  const double error = std::sqrt(chance * (1 - chance) / judged.count);
  if (judged.accuracy() > chance + 3 * error) return "";
  return fmt::format(
      "epoch {}: {:.1f} % of the training images are classified correctly, chance among {} classes is {:.1f} %: the "
      "learning rate {:g} does not work; try --lr {:g}, or skip training: protocom extract with a ready encoder, then "
      "fit",
      epoch, 100 * judged.accuracy(), classes_, 100 * chance, learning_rate_, better_rate(learning_rate_, usual_rate_));
}

}  // namespace protocom
