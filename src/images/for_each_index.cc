#include "images/for_each_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cores.h"

namespace protocom::images_detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kReportEvery = std::chrono::milliseconds(200);

class IndexPool {
 public:
  IndexPool(int64_t count, const std::function<void(int64_t)>& work)
      : count_(count), first_failed_(count), work_(work) {}
  ~IndexPool() { join(); }
  IndexPool(const IndexPool&) = delete;
  IndexPool& operator=(const IndexPool&) = delete;

  void start(int threads) {
    running_ = threads;
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }

  /// Waits; returns false when all threads have ended.
  bool wait_a_while() {
    std::unique_lock<std::mutex> lock(mutex_);
    return !ended_.wait_for(lock, kReportEvery, [this] { return running_ == 0; });
  }

  void finish() {
    join();
    if (failure_) std::rethrow_exception(failure_);
  }

  [[nodiscard]] int64_t done() const { return done_; }

 private:
  void run() {
    while (!stopped_) {
      const int64_t i = next_++;
      if (i >= count_) break;
      try {
        work_(i);
      } catch (...) {
        note_failure(i, std::current_exception());
      }
      ++done_;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) ended_.notify_all();
  }

  void note_failure(int64_t index, std::exception_ptr failure) {
    stopped_ = true;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (index >= first_failed_) return;
    first_failed_ = index;
    failure_ = std::move(failure);
  }

  void join() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const int64_t count_;
  int64_t first_failed_;
  std::exception_ptr failure_;
  const std::function<void(int64_t)>& work_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<bool> stopped_{false};
  int running_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::thread> threads_;
};

std::string rate(int64_t done, Clock::time_point started) {
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return fmt::format("{:.0f} images/s", static_cast<double>(done) / std::max(seconds, 1e-3));
}

}  // namespace

void for_each_index(int64_t count, int threads, std::string_view what, Progress& progress,
                    const std::function<void(int64_t)>& work) {
  const int64_t wanted = threads > 0 ? threads : usable_cores();
  const Clock::time_point started = Clock::now();
  progress.start(what, count);
  IndexPool pool(count, work);
  pool.start(static_cast<int>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(count, 1))));
  while (pool.wait_a_while()) progress.advance(pool.done(), rate(pool.done(), started));
  pool.finish();
  progress.advance(count, rate(count, started));
  progress.finish();
}

}  // namespace protocom::images_detail
