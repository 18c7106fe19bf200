#include "http/detail/followers.h"

#include <fmt/format.h>

#include <utility>

#include "base/json_text.h"

namespace protocom::http {
namespace {

using FollowClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookForNews{250};
constexpr std::chrono::seconds kLongestWait{25};  // proxies close connections that are silent for longer
constexpr size_t kMostFollowers = 64;
constexpr const char* kEventStream = "text/event-stream";

/// The end of a stream; EventSource reconnects half a second later.
constexpr const char* kNoNews = "retry: 500\n: nothing has changed\n\n";

std::string event_text(int64_t revision, const nlohmann::json& event) {
  return fmt::format("retry: 500\nid: {}\ndata: {}\n\n", revision, json_text(event));
}

bool is_given_up(const Follower& follower) {
  try {
    follower.cancellation->check();
    return false;
  } catch (const HttpError&) {
    return true;
  }
}

void tell_nothing(const std::vector<Follower>& followers) {
  for (const Follower& follower : followers) follower.respond({200, kEventStream, kNoNews});
}

}  // namespace

Followers::Followers(RevisionSource source) : source_(std::move(source)), thread_([this] { run(); }) {}

Followers::~Followers() {
  stop();
  thread_.join();
}

void Followers::add(Follower follower) {
  std::vector<Follower> over;
  follower.until = FollowClock::now() + kLongestWait;
  {
    const std::lock_guard lock(mutex_);
    if (stops_) {
      over.push_back(std::move(follower));
    } else {
      if (waiting_.size() >= kMostFollowers) {
        over.push_back(std::move(waiting_.front()));
        waiting_.erase(waiting_.begin());
      }
      waiting_.push_back(std::move(follower));
    }
  }
  changed_.notify_one();
  tell_nothing(over);
}

void Followers::stop() {
  std::vector<Follower> all;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    all = std::exchange(waiting_, {});
  }
  changed_.notify_one();
  tell_nothing(all);
}

void Followers::run() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    changed_.wait(lock, [this] { return stops_ || !waiting_.empty(); });
    if (stops_) return;
    lock.unlock();
    look();
    lock.lock();
    changed_.wait_for(lock, kLookForNews, [this] { return stops_; });
  }
}

void Followers::look() {
  try {
    const int64_t revision = source_.revision();
    if (is_news(revision)) tell_due(revision, source_.event());
  } catch (const std::exception&) {
    // The file cannot be read now: the next request for it gets the error.
  }
  tell_nothing(take_due(std::nullopt));
}

void Followers::tell_due(int64_t revision, const nlohmann::json& event) {
  const std::string text = event_text(revision, event);
  for (const Follower& follower : take_due(revision)) follower.respond({200, kEventStream, text});
}

/// Whether any client knows another revision; those without one get this one.
bool Followers::is_news(int64_t revision) {
  const std::lock_guard lock(mutex_);
  bool news = false;
  for (Follower& follower : waiting_) {
    if (!follower.after) follower.after = revision;
    news |= *follower.after != revision;
  }
  return news;
}

/// Returns and removes the clients that know another revision; without a revision, those that have timed out or
/// disconnected.
std::vector<Follower> Followers::take_due(std::optional<int64_t> revision) {
  const FollowClock::time_point now = FollowClock::now();
  const std::lock_guard lock(mutex_);
  std::vector<Follower> due, left;
  for (Follower& follower : waiting_) {
    const bool is_due =
        revision ? follower.after && *follower.after != *revision : now >= follower.until || is_given_up(follower);
    (is_due ? due : left).push_back(std::move(follower));
  }
  waiting_ = std::move(left);
  return due;
}

}  // namespace protocom::http
