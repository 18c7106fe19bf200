#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "http/detail/http_error.h"
#include "protocom/server_options.h"

namespace protocom::http {

/// Counts requests that are accepted and not yet answered, and the bytes that lie in memory for clients: bodies as they
/// come, and responses until they are read. Thread-safe.
class Admission {
 public:
  explicit Admission(const ServerLimits& limits) : limits_(limits) {}

  /// What a request takes of the server for as long as this lives: the bytes of its body as they come, and a place once
  /// all of it is in, so that a client that only announces one takes nothing.
  class Place {
   public:
    explicit Place(Admission& admission) : admission_(admission) {}
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// More bytes lie in memory for it. Returns false where all together are more than may be now.
    bool add(int64_t bytes);
    /// Its body is in. Throws HttpError 503 when there are as many requests as may be.
    void accept();
    /// It takes nothing more. Before its client has the answer: what that sends next finds the place free.
    void leave();

   private:
    Admission& admission_;
    int64_t bytes_ = 0;
    bool accepted_ = false;
  };

  std::shared_ptr<Place> begin() { return std::make_shared<Place>(*this); }

 private:
  ServerLimits limits_;
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> bytes_{0};
};

/// What a server says that holds as much as it can.
HttpError no_room();

}  // namespace protocom::http
