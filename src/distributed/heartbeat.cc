#include "distributed/detail/heartbeat.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "base/text.h"

namespace protocom {
namespace {

using std::chrono::milliseconds;

constexpr int kSilentBeats = 6;                     // 3 s
constexpr int64_t kRoundsALook = 4;                 // 2 s between two checks of the others' counts
constexpr std::chrono::seconds kSuspendedAfter{5};  // without a beat of its own for so long, this process was suspended
constexpr std::chrono::seconds kShutdownWait{2};
constexpr const char* kVerdict = "gone";

std::string key_of(int rank) { return "alive/" + std::to_string(rank); }
std::string failure_key(int rank) { return "failed/" + std::to_string(rank); }
std::string end_key(int rank) { return "ended/" + std::to_string(rank); }
/// The key of a process that no longer needs the store.
std::string heard_key(int rank) { return "heard/" + std::to_string(rank); }

std::vector<int> parse(const std::vector<uint8_t>& text) {
  const std::string all(text.begin(), text.end());
  std::vector<int> ranks;
  for (const std::string_view number : split_at(all, ' ')) {
    if (!number.empty()) ranks.push_back(std::stoi(std::string(number)));
  }
  return ranks;
}

}  // namespace

/// State shared by the threads and their owner.
struct Heartbeat::Watch {
  using Clock = std::chrono::steady_clock;

  Watch(c10::intrusive_ptr<c10d::Store> store_of_job, int own_rank, int size, OnLoss report, HeartbeatTimes spans)
      : store(std::move(store_of_job)),
        rank(own_rank),
        times(spans),
        on_loss(std::move(report)),
        counts(static_cast<size_t>(size), 0),
        changed(static_cast<size_t>(size), Clock::now()),
        done(static_cast<size_t>(size), false) {}

  void beat();
  void look_for_failures();
  void look_for_ends();
  void look_at_counts();
  void judge();
  bool wait(milliseconds duration);
  [[nodiscard]] bool store_silent(Clock::time_point now) const;
  [[nodiscard]] std::vector<int> silent() const;

  const c10::intrusive_ptr<c10d::Store> store;
  const int rank;
  const HeartbeatTimes times;
  const OnLoss on_loss;

  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  int running = 2;                          // threads
  Clock::time_point beaten = Clock::now();  // when the store last answered
  bool store_gone = false;                  // it answers with errors
  std::vector<int64_t> counts;
  std::vector<Clock::time_point> changed;  // when each count was last seen to grow
  std::vector<bool> done;                  // which ones have finished
  std::map<int, std::string> failures;
  std::vector<int> lost;
};

/// Waits; returns whether the owner still exists.
bool Heartbeat::Watch::wait(milliseconds duration) {
  std::unique_lock lock(mutex);
  return !wake.wait_for(lock, duration, [this] { return stopping; });
}

void Heartbeat::Watch::look_for_failures() {
  for (int other = 0; other < static_cast<int>(counts.size()); ++other) {
    if (other == rank || !store->check({failure_key(other)})) continue;
    const std::vector<uint8_t> text = store->get(failure_key(other));
    const std::lock_guard lock(mutex);
    failures[other] = std::string(text.begin(), text.end());
  }
}

void Heartbeat::Watch::look_for_ends() {
  for (size_t other = 0; other < done.size(); ++other) {
    if (done[other] || !store->check({end_key(static_cast<int>(other))})) continue;
    if (other == 0) store->set(heard_key(rank), std::vector<uint8_t>{1});
    const std::lock_guard lock(mutex);
    done[other] = true;
  }
}

void Heartbeat::Watch::look_at_counts() {
  for (size_t other = 0; other < counts.size(); ++other) {
    const int64_t count = store->add(key_of(static_cast<int>(other)), 0);
    const std::lock_guard lock(mutex);
    if (count != counts[other]) changed[other] = Clock::now();
    counts[other] = count;
  }
}

void Heartbeat::Watch::beat() {
  bool answers = true;
  for (int64_t round = 0; answers && wait(times.beat); ++round) {
    try {
      store->add(key_of(rank), 1);
      look_for_failures();
      look_for_ends();
      if (round % kRoundsALook == 0) look_at_counts();
    } catch (const std::exception&) {
      answers = false;
    }
    const std::lock_guard lock(mutex);
    if (!answers) {
      store_gone = true;
      break;
    }
    // A process that was suspended has not read the counts of the others meanwhile.
    const bool was_suspended = Clock::now() - beaten > kSuspendedAfter;
    beaten = Clock::now();
    if (was_suspended) std::fill(changed.begin(), changed.end(), beaten);
  }
  const std::lock_guard lock(mutex);
  --running;
  wake.notify_all();
}

bool Heartbeat::Watch::store_silent(Clock::time_point now) const {
  // If it is gone, waiting for process 0 reports it better, and soon.
  return now - beaten > (store_gone ? times.silence / 6 : times.silence);
}

/// Returns processes without a recent heartbeat. Those without any have not joined yet, which may take longer.
std::vector<int> Heartbeat::Watch::silent() const {
  const auto now = Clock::now();
  // Process 0 keeps the store: while that does not answer, nothing is known of the others.
  if (store_gone || store_silent(now)) {
    const bool leader = rank != 0 && !done[0] && store_silent(now);
    return leader ? std::vector<int>{0} : std::vector<int>{};
  }
  std::vector<int> found;
  for (size_t other = 0; other < counts.size(); ++other) {
    if (static_cast<int>(other) == rank || counts[other] == 0 || done[other]) continue;
    if (now - changed[other] > times.silence) found.push_back(static_cast<int>(other));
  }
  return found;
}

/// Judges the others. A process that was suspended has read no counts meanwhile, but has them again by the second
/// check.
void Heartbeat::Watch::judge() {
  std::vector<int> before;
  auto checked = Clock::now();
  while (wait(times.check_interval)) {
    const std::lock_guard lock(mutex);
    const bool was_suspended = Clock::now() - checked > kSuspendedAfter;
    checked = Clock::now();
    const std::vector<int> now = was_suspended ? std::vector<int>{} : silent();
    if (!now.empty() && now == before) {
      lost = now;
      break;
    }
    before = now;
  }
  if (wait(times.report_delay) && on_loss) on_loss(lost);
  const std::lock_guard lock(mutex);
  --running;
  wake.notify_all();
}

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, int size, OnLoss on_loss, HeartbeatTimes times)
    : store_(c10::make_intrusive<c10d::PrefixStore>("protocom", std::move(store))),
      rank_(rank),
      size_(size),
      times_(times),
      watch_(std::make_shared<Watch>(store_, rank, size, std::move(on_loss), times)) {
  store_->add(key_of(rank_), 1);
  std::thread([watch = watch_] { watch->beat(); }).detach();
  std::thread([watch = watch_] { watch->judge(); }).detach();
}

Heartbeat::~Heartbeat() {
  std::unique_lock lock(watch_->mutex);
  watch_->stopping = true;
  watch_->wake.notify_all();
  watch_->wake.wait_for(lock, kShutdownWait, [this] { return watch_->running == 0; });
}

void Heartbeat::tell(const std::string& key, const std::string& text) const {
  try {
    store_->set(key, std::vector<uint8_t>(text.begin(), text.end()));
  } catch (const std::exception&) {
    // No process is left to notify.
  }
}

void Heartbeat::leave() const {
  tell(end_key(rank_), "1");
  part(kShutdownWait);
  const std::lock_guard lock(watch_->mutex);
  watch_->stopping = true;
  watch_->wake.notify_all();
}

void Heartbeat::part(milliseconds most, const std::vector<int>& gone) const {
  try {
    store_->set(heard_key(rank_), std::vector<uint8_t>{1});
    if (rank_ != 0) return;
    std::vector<std::string> expected;
    for (int rank = 0; rank < size_; ++rank) {
      if (std::find(gone.begin(), gone.end(), rank) == gone.end()) expected.push_back(heard_key(rank));
    }
    const auto until = Watch::Clock::now() + most;
    while (!store_->check(expected) && Watch::Clock::now() < until) watch_->wait(times_.beat / 10);
  } catch (const std::exception&) {
    // No process is left to notify.
  }
}

std::vector<int64_t> Heartbeat::counts() const {
  std::vector<int64_t> all;
  for (int rank = 0; rank < size_; ++rank) all.push_back(store_->add(key_of(rank), 0));
  return all;
}

std::vector<int> Heartbeat::find_gone() const {
  try {
    if (store_->check({kVerdict})) return parse(store_->get(kVerdict));
    const std::vector<int64_t> before = counts();
    std::this_thread::sleep_for(kSilentBeats * times_.beat);
    if (store_->check({kVerdict})) return parse(store_->get(kVerdict));
    const std::vector<int64_t> after = counts();
    std::vector<int> gone;
    std::string text;
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_ || after[static_cast<size_t>(rank)] != before[static_cast<size_t>(rank)]) continue;
      gone.push_back(rank);
      text += std::to_string(rank) + " ";
    }
    // A process that checks later finds others gone too: those that ended because of this.
    if (!gone.empty()) store_->set(kVerdict, std::vector<uint8_t>(text.begin(), text.end()));
    return gone;
  } catch (const std::exception&) {
    return {0};
  }
}

std::vector<int> Heartbeat::lost() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->lost;
}

void Heartbeat::announce_failure(const std::string& reason) const { tell(failure_key(rank_), reason); }

std::map<int, std::string> Heartbeat::failures() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->failures;
}

}  // namespace protocom
