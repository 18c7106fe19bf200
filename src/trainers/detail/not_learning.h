#pragma once
#include <string>

#include "trainers/detail/epoch_sums.h"
#include "training/schedule.h"

namespace protocom {

/// Watches whether a classification gets better than guessing. Epochs count from the first one behind the warm-up, or
/// are the last one; as many are judged together as make 50 images per class, fewer tell nothing yet.
class LearningWatch {
 public:
  /// `schedule` with the learning rate that is really used, `usual_rate` what it would be by default.
  LearningWatch(int64_t classes, const Schedule& schedule, double usual_rate);

  /// Adds an epoch, counted from 1. A warning with what to do when the accuracy of the epochs since the last judgement
  /// is at most three standard errors above guessing among the classes; empty when it is more, or not yet to be judged.
  std::string add(int64_t epoch, const EpochSums& sums);

  /// What has not been judged yet, for a training that is cut off and resumed.
  [[nodiscard]] const EpochSums& unjudged() const { return unjudged_; }
  void go_on_from(const EpochSums& unjudged) { unjudged_ = unjudged; }

 private:
  int64_t classes_;
  double learning_rate_;
  double usual_rate_;
  int64_t first_epoch_;
  EpochSums unjudged_;
};

}  // namespace protocom
