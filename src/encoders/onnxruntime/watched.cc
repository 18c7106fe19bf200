#include "encoders/onnxruntime/watched.h"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"

namespace protocom::onnxruntime {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::chrono::milliseconds kBetweenLooks(20);
constexpr int kWallTimes = 10;  // times the processor time: on a busy machine a thread waits

/// Returns the resident memory of this process in bytes.
int64_t resident_bytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// State shared by the working thread and the one that waits for it.
class Watch {
 public:
  /// Called in the working thread.
  void work(const std::function<void()>& work) {
    clockid_t clock{};
    if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) set([&] { clock_ = clock; });
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    set([&] {
      clock_.reset();
      thrown_ = thrown;
      done_ = true;
    });
    ended_.notify_one();
  }

  /// Whether it ended within that time; rethrows its exception.
  bool ended_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, time, [&] { return done_; })) return false;
    if (thrown_) std::rethrow_exception(thrown_);
    return true;
  }

  [[nodiscard]] nanoseconds processor_time() {
    const std::lock_guard lock(mutex_);
    timespec used{};
    if (!clock_ || ::clock_gettime(*clock_, &used) != 0) return nanoseconds(0);
    return seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
  }

 private:
  template <typename Change>
  void set(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<clockid_t> clock_;  ///< while the thread works
  std::exception_ptr thrown_;
  bool done_ = false;
};

}  // namespace

void run_watched(const std::string& what, const Allowance& allowed, const std::function<void()>& work,
                 const std::function<void()>& stop) {
  const int64_t memory_before = allowed.memory > 0 ? resident_bytes() : 0;
  const auto began = Clock::now();
  const auto watch = std::make_shared<Watch>();
  std::thread([watch, work] { watch->work(work); }).detach();
  while (!watch->ended_within(kBetweenLooks)) {
    const bool slow =
        watch->processor_time() > allowed.processor || Clock::now() - began > kWallTimes * allowed.processor;
    const bool large = allowed.memory > 0 && resident_bytes() - memory_before > allowed.memory;
    if (!slow && !large) continue;
    stop();
    if (large)
      fail("{}, ONNX Runtime needs more than {:.1f} GB of memory", what, static_cast<double>(allowed.memory) / 1e9);
    fail("{}, ONNX Runtime needs more than {} s of a processor", what, allowed.processor.count());
  }
}

}  // namespace protocom::onnxruntime
