#pragma once
#include <string>

#include "trainers/detail/epoch_sums.h"
#include "training/schedule.h"

namespace protocom {

/// Watches whether a classification becomes better than guessing. It judges epochs from the first one after the
/// warm-up, or the last one, as many together as make 50 images per class; fewer tell nothing yet.
class LearningWatch {
 public:
  /// `schedule` has the learning rate actually used, `usual_rate` is the default one.
  LearningWatch(int64_t classes, const Schedule& schedule, double usual_rate);

  /// Adds an epoch, counted from 1. Returns a warning with advice if the accuracy of the epochs since the last
  /// judgement is at most three standard errors above guessing among the classes; empty if it is higher, or cannot be
  /// judged yet.
  std::string add(int64_t epoch, const EpochSums& sums);

  /// Returns what has not been judged yet, for a training that is interrupted and resumed.
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
