#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "http/detail/cancellation.h"
#include "http/detail/message.h"

namespace protocom::http {

/// A client that waits for the recognizer's next change.
struct Follower {
  Respond respond;                                   ///< called once
  std::shared_ptr<Cancellation> cancellation;        ///< of its request
  std::optional<int64_t> after = {};                 ///< the revision that it knows; nothing: the current one
  std::chrono::steady_clock::time_point until = {};  ///< when to answer that nothing has changed
};

/// Functions that return the revision and its description; they may throw while the file cannot be read.
struct RevisionSource {
  std::function<int64_t()> revision;
  std::function<nlohmann::json()> event;
};

/// Tells clients of the recognizer's next change by any program, as a server-sent event (text/event-stream). Its own
/// thread polls several times a second while any client waits. Thread-safe.
class Followers {
 public:
  explicit Followers(RevisionSource source);
  /// Calls stop().
  ~Followers();
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  /// Adds a client. If too many wait, the one that has waited longest is answered that nothing has changed.
  void add(Follower follower);
  /// Answers all waiting clients; later ones are answered at once.
  void stop();

 private:
  void run();
  void look();
  void tell_due(int64_t revision, const nlohmann::json& event);
  [[nodiscard]] bool is_news(int64_t revision);
  std::vector<Follower> take_due(std::optional<int64_t> revision);

  RevisionSource source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Follower> waiting_;  // longest-waiting first
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace protocom::http
