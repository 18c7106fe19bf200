#pragma once
#include <string>

#include "train/epoch_sums.h"

namespace protocom {

/// What an epoch of classification is judged by.
struct LearningSetting {
  int64_t classes = 0;
  int64_t epoch = 0;  ///< from 1
  double learning_rate = 0;
};

/// A warning when the accuracy of an epoch is at most three standard errors above guessing among the classes, with what
/// to do; empty when it is more, and for epochs of fewer than 20 images a class, which tell
/// nothing yet.
std::string not_learning(const EpochSums& sums, const LearningSetting& setting);

}  // namespace protocom
