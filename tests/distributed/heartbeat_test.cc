#include "distributed/detail/heartbeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace protocom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr seconds kLongEnough{20};

HeartbeatTimes quick() {
  HeartbeatTimes times;
  times.beat = milliseconds(10);
  times.check_interval = milliseconds(20);
  times.silence = milliseconds(300);
  times.report_delay = milliseconds(20);
  return times;
}

/// Records which processes a heartbeat's own thread reports as lost.
class Told {
 public:
  [[nodiscard]] Heartbeat::OnLoss on_loss() {
    return [this](const std::vector<int>& lost) { lost_.set_value(lost); };
  }
  /// Waits for a report; empty: none in that time.
  std::vector<int> within(milliseconds time) {
    return future_.wait_for(time) == std::future_status::ready ? future_.get() : std::vector<int>{};
  }

 private:
  std::promise<std::vector<int>> lost_;
  std::future<std::vector<int>> future_ = lost_.get_future();
};

/// A store that stops answering, or answers with errors: shows what the end of its keeper does to the others.
class FailingStore : public c10d::HashStore {
 public:
  enum class State { kAnswers, kHangs, kThrows };
  std::atomic<State> state{State::kAnswers};

  int64_t add(const std::string& key, int64_t value) override {
    while (state == State::kHangs) std::this_thread::sleep_for(milliseconds(5));
    if (state == State::kThrows) throw std::runtime_error("connection reset by peer");
    return HashStore::add(key, value);
  }
};

TEST(Heartbeat, NamesOneThatIsGoneWhileThisProcessComputes) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  Told told;
  const Heartbeat own(store, 0, 2, told.on_loss(), quick());
  { const Heartbeat other(store, 1, 2, {}, quick()); }
  EXPECT_THAT(told.within(kLongEnough), ElementsAre(1));
  EXPECT_THAT(own.lost(), ElementsAre(1));
}

TEST(Heartbeat, NamesTheKeeperOfTheStoreWhenThatHangsOrEnds) {
  for (const auto state : {FailingStore::State::kHangs, FailingStore::State::kThrows}) {
    const auto store = c10::make_intrusive<FailingStore>();
    Told told;
    const Heartbeat own(store, 1, 2, told.on_loss(), quick());
    store->state = state;
    EXPECT_THAT(told.within(kLongEnough), ElementsAre(0));
    store->state = FailingStore::State::kThrows;
  }
}

TEST(Heartbeat, SaysNothingOfOneThatHasNotYetJoined) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  Told told;
  const Heartbeat own(store, 0, 2, told.on_loss(), quick());
  EXPECT_THAT(told.within(milliseconds(700)), IsEmpty()) << "more than twice what one may be silent";
}

TEST(Heartbeat, SaysNothingOfOneThatHasDoneItsPart) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  HeartbeatTimes slow = quick();
  slow.silence = milliseconds(1500);  // until the end of the other has been read, on a busy machine too
  Told told;
  const Heartbeat own(store, 0, 2, told.on_loss(), slow);
  {
    const Heartbeat other(store, 1, 2, {}, quick());
    other.leave();
  }
  EXPECT_THAT(told.within(milliseconds(1800)), IsEmpty());
}

TEST(Heartbeat, OfTheKeeperLeavesWhenTheOthersHaveHeard) {
  const auto store = c10::make_intrusive<FailingStore>();
  Told told;
  const Heartbeat other(store, 1, 2, told.on_loss(), quick());
  {
    const Heartbeat keeper(store, 0, 2, {}, quick());
    keeper.leave();
  }
  store->state = FailingStore::State::kThrows;
  EXPECT_THAT(told.within(milliseconds(500)), IsEmpty());
}

TEST(Heartbeat, OfTheKeeperPartsWhenAllThatAreNotGoneHaveParted) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const Heartbeat keeper(store, 0, 3, {}, quick());
  const auto begun = std::chrono::steady_clock::now();
  keeper.part(milliseconds(300), {2});
  EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(300)) << "process 1 may still ask";
  std::thread other([&] { Heartbeat(store, 1, 3, {}, quick()).part(kLongEnough); });
  keeper.part(kLongEnough, {2});
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kLongEnough);
}

}  // namespace
}  // namespace protocom
