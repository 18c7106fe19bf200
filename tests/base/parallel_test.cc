#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace protocom {
namespace {

/// Sets the number of threads during its lifetime.
class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }

 private:
  int before_;
};

TEST(ParallelFor, UsesSeveralThreadsAndReachesEveryIndexOnce) {
  const Threads two(2);
  std::vector<int> visits(100, 0);
  std::set<std::thread::id> threads;
  std::mutex mutex;
  parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(visits, std::vector<int>(100, 1));
  EXPECT_EQ(threads.size(), 2U);
}

TEST(ParallelFor, StaysOnOneThreadForAGrain) {
  const Threads two(2);
  int calls = 0;
  parallel_for(3, 10, 10, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 3);
    EXPECT_EQ(end, 10);
  });
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, HandsOnWhatTheWorkThrows) {
  const Threads two(2);
  EXPECT_THROW(parallel_for(0, 10, 1, [](int64_t, int64_t) { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST(ParallelEach, ReachesEveryIndexOnceAndLeavesNoThreadIdle) {
  const Threads two(2);
  std::vector<int> visits(100, 0);
  std::atomic<int> others{0};
  parallel_each(100, [&](int64_t i) {
    ++visits[static_cast<size_t>(i)];
    // The thread with the first piece keeps it until no other thread finds one.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    if (i != 0) ++others;
    while (i == 0 && others < 99 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  });
  EXPECT_EQ(visits, std::vector<int>(100, 1));
  EXPECT_EQ(others, 99);
}

TEST(ParallelEach, BeginsNothingMoreAfterAnException) {
  const Threads two(2);
  std::atomic<int> begun{0};
  EXPECT_THROW(parallel_each(1000000,
                             [&](int64_t) {
                               ++begun;
                               throw std::runtime_error("no");
                             }),
               std::runtime_error);
  EXPECT_LE(begun, 2);
  parallel_each(0, [&](int64_t) { FAIL(); });
}

}  // namespace
}  // namespace protocom
