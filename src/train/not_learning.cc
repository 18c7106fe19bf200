#include "train/not_learning.h"

#include <fmt/format.h>

#include <cmath>

namespace protocom {

std::string not_learning(const EpochSums& sums, const LearningSetting& setting) {
  const auto classes = static_cast<double>(setting.classes);
  if (setting.classes < 2 || sums.count < 20 * classes) return "";
  const double chance = 1 / classes;
  const double error = std::sqrt(chance * (1 - chance) / sums.count);
  if (sums.accuracy() > chance + 3 * error) return "";
  return fmt::format(
      "epoch {}: {:.1f} % of the training images are named right, guessing among {} classes gives {:.1f} %: it is not "
      "learning at the rate {:g}; try --lr {:g}, or skip training: protocom extract with a ready encoder, then fit",
      setting.epoch, 100 * sums.accuracy(), setting.classes, 100 * chance, setting.learning_rate,
      setting.learning_rate / 5);
}

}  // namespace protocom
