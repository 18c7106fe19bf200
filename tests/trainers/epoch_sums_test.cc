#include "trainers/detail/epoch_sums.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "support/free_port.h"

namespace protocom {
namespace {

using protocom::testing::free_port;
using ::testing::Each;
using ::testing::ElementsAre;

/// What one of two processes has learned after each of three steps, if a stop was requested right after it had sent the
/// sums of step `asked_after`.
struct Heard {
  std::vector<bool> to_stop;
  EpochSums sums;
  int signal = 0;
};

Heard three_steps(const Launch& launch, int64_t asked_after) {
  const ProcessGroup group(launch);
  StopSignal asked, agreed;
  SumsReader reader(group, &asked, agreed, [](double, int64_t) {});
  Heard heard;
  for (int64_t step = 0; step < 3; ++step) {
    reader.add(step, at::tensor({1.0 + launch.rank, 2.0, 4.0}, at::kDouble), heard.sums);
    if (step == asked_after) asked.request(SIGINT);
    heard.to_stop.push_back(agreed.requested());
  }
  heard.signal = agreed.signal();
  return heard;
}

TEST(SumsReader, StopsAllProcessesAtTheSameStep) {
  constexpr int64_t kNever = -1;
  Launch first;
  first.size = 2;
  first.port = free_port();
  Launch second = first;
  second.rank = second.local_rank = 1;
  Heard of_first, of_second;
  std::thread other([&] { of_second = three_steps(second, 0); });
  of_first = three_steps(first, kNever);
  other.join();

  // The sums of step 0 had been sent: the process with the request waits for the next, when the other learns of it.
  EXPECT_THAT(of_second.to_stop, ElementsAre(false, true, true));
  EXPECT_THAT(of_first.to_stop, ElementsAre(false, true, true));
  EXPECT_EQ(of_second.signal, SIGINT);
  EXPECT_EQ(of_first.signal, SIGTERM);
  EXPECT_THAT((std::vector<double>{of_first.sums.loss, of_second.sums.loss}), Each(9));
  EXPECT_THAT((std::vector<double>{of_first.sums.count, of_second.sums.count}), Each(24));
}

TEST(SumsReader, AddsTheSumsOfASingleProcessAndAgreesWithNobody) {
  StopSignal asked, agreed;
  SumsReader reader(ProcessGroup::single(), &asked, agreed, [](double, int64_t) {});
  asked.request(SIGINT);
  EpochSums sums;
  reader.add(0, at::tensor({1.5, 2.0, 4.0}, at::kDouble), sums);
  EXPECT_EQ(sums.loss, 1.5);
  EXPECT_EQ(sums.accuracy(), 0.5);
}

}  // namespace
}  // namespace protocom
