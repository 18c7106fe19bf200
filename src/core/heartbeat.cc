#include "core/heartbeat.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace protocom {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval{500};
constexpr int kSilentIntervals = 6;  // 3 s
constexpr int64_t kRoundsALook = 4;  // 2 s between two looks at the others' counts
constexpr std::chrono::seconds kAway{5};
constexpr std::chrono::seconds kGoodbye{2};
constexpr const char* kVerdict = "gone";

std::string key_of(int rank) { return "alive/" + std::to_string(rank); }
std::string failure_key(int rank) { return "failed/" + std::to_string(rank); }

std::vector<int> parse(const std::vector<uint8_t>& text) {
  std::vector<int> ranks;
  std::string number;
  for (const uint8_t byte : text) {
    if (byte != ' ') {
      number.push_back(static_cast<char>(byte));
    } else if (!number.empty()) {
      ranks.push_back(std::stoi(number));
      number.clear();
    }
  }
  return ranks;
}

}  // namespace

/// What the thread and its owner share.
struct Heartbeat::Watch {
  using Clock = std::chrono::steady_clock;

  Watch(c10::intrusive_ptr<c10d::Store> store_of_job, int own_rank, int size)
      : store(std::move(store_of_job)),
        rank(own_rank),
        counts(static_cast<size_t>(size), 0),
        changed(static_cast<size_t>(size), Clock::now()) {}

  void beat();
  void look_for_failures();
  void look_at_counts();
  void wait(milliseconds duration);

  const c10::intrusive_ptr<c10d::Store> store;
  const int rank;

  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  bool ended = false;
  Clock::time_point beaten = Clock::now();  // when the store answered last
  std::vector<int64_t> counts;
  std::vector<Clock::time_point> changed;  // when each count was seen to grow last
  std::map<int, std::string> failures;
};

void Heartbeat::Watch::wait(milliseconds duration) {
  std::unique_lock lock(mutex);
  wake.wait_for(lock, duration, [this] { return stopping; });
}

void Heartbeat::Watch::look_for_failures() {
  for (int other = 0; other < static_cast<int>(counts.size()); ++other) {
    if (other == rank || !store->check({failure_key(other)})) continue;
    const std::vector<uint8_t> text = store->get(failure_key(other));
    const std::lock_guard lock(mutex);
    failures[other] = std::string(text.begin(), text.end());
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
  try {
    for (int64_t round = 0;; ++round) {
      wait(kInterval);
      {
        const std::lock_guard lock(mutex);
        if (stopping) break;
      }
      store->add(key_of(rank), 1);
      look_for_failures();
      if (round % kRoundsALook == 0) look_at_counts();
      const std::lock_guard lock(mutex);
      // Who was stopped itself has not heard the others meanwhile.
      const bool was_away = Clock::now() - beaten > kAway;
      beaten = Clock::now();
      if (was_away) std::fill(changed.begin(), changed.end(), beaten);
    }
  } catch (const std::exception&) {
    // The store is gone; the next collective operation will say so.
  }
  const std::lock_guard lock(mutex);
  ended = true;
  wake.notify_all();
}

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, int size)
    : store_(c10::make_intrusive<c10d::PrefixStore>("protocom", std::move(store))),
      rank_(rank),
      size_(size),
      watch_(std::make_shared<Watch>(store_, rank, size)) {
  store_->add(key_of(rank_), 1);
  std::thread([watch = watch_] { watch->beat(); }).detach();
}

Heartbeat::~Heartbeat() {
  std::unique_lock lock(watch_->mutex);
  watch_->stopping = true;
  watch_->wake.notify_all();
  watch_->wake.wait_for(lock, kGoodbye, [this] { return watch_->ended; });
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
    std::this_thread::sleep_for(kSilentIntervals * kInterval);
    if (store_->check({kVerdict})) return parse(store_->get(kVerdict));
    const std::vector<int64_t> after = counts();
    std::vector<int> gone;
    std::string text;
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_ || after[static_cast<size_t>(rank)] != before[static_cast<size_t>(rank)]) continue;
      gone.push_back(rank);
      text += std::to_string(rank) + " ";
    }
    // Whoever comes later finds others gone too: those that ended because of this.
    if (!gone.empty()) store_->set(kVerdict, std::vector<uint8_t>(text.begin(), text.end()));
    return gone;
  } catch (const std::exception&) {
    return {0};
  }
}

std::vector<int> Heartbeat::find_silent() const {
  const auto now = Watch::Clock::now();
  const std::lock_guard lock(watch_->mutex);
  if (watch_->ended) return {};
  std::vector<int> silent;
  // Process 0 keeps the store: while that does not answer, nothing is known of the others.
  if (now - watch_->beaten > kSilence) {
    if (rank_ != 0) silent.push_back(0);
    return silent;
  }
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_ && now - watch_->changed[static_cast<size_t>(rank)] > kSilence) silent.push_back(rank);
  }
  return silent;
}

void Heartbeat::announce_failure(const std::string& reason) const {
  try {
    store_->set(failure_key(rank_), std::vector<uint8_t>(reason.begin(), reason.end()));
  } catch (const std::exception&) {
    // Nobody is there to be told.
  }
}

std::map<int, std::string> Heartbeat::failures() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->failures;
}

}  // namespace protocom
