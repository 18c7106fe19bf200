#include "trainers/detail/time_estimate.h"

#include <gmock/gmock.h>

namespace protocom {
namespace {

// 0.4 s x 800 steps x 60 epochs = 19,200 s; 3,600 s hold 11 epochs of 320 s.
TEST(TimeEstimate, OfALongTrainingSaysWhatWouldBeShorter) {
  const TimeEstimate estimate{0.4, 800, 48000, 60, 1.3e9};
  EXPECT_EQ(
      say_estimate(estimate, "a ready encoder needs none"),
      "about 5 h 20 min for 60 epochs (0.4 s a step), 1.3 GB of memory so far; --epochs 11 takes about an hour; a "
      "ready encoder needs none");
}

TEST(TimeEstimate, SaysLessTheShorterATrainingIs) {
  EXPECT_EQ(say_estimate({0.5, 100, 3600, 36, 5e8}, "x"),
            "about 30 min for 36 epochs (0.5 s a step), 0.5 GB of memory so far");
  EXPECT_EQ(say_estimate({0.5, 100, 200, 2, 5e8}, "x"), "");
  // An epoch of more than an hour: no number of epochs is short.
  EXPECT_EQ(say_estimate({10, 720, 1440, 2, 5e8}, ""), "about 4 h for 2 epochs (10 s a step), 0.5 GB of memory so far");
}

TEST(StepTimer, SpeaksOnceAfterAFewSteps) {
  StepTimer timer;
  int spoken = 0;
  for (int i = 0; i < 100; ++i) {
    const auto seconds = timer.step();
    if (!seconds) continue;
    ++spoken;
    EXPECT_GE(i, 3);
    EXPECT_GE(*seconds, 0);
  }
  EXPECT_EQ(spoken, 1);
  EXPECT_GT(peak_memory(), 1e6);
}

}  // namespace
}  // namespace protocom
