#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "http/detail/http_error.h"
#include "protocom/server_options.h"

namespace protocom::http {

/// Limits the number of accepted, unanswered requests, and the memory used for clients: bodies as they arrive, and
/// responses until they are read. Thread-safe.
class Admission {
 public:
  explicit Admission(const ServerLimits& limits) : limits_(limits) {}

  /// A request's usage of these limits, for the lifetime of this object: the bytes of its body as they arrive, and one
  /// of the requests once the body is complete, so that announcing a body uses nothing.
  class Place {
   public:
    explicit Place(Admission& admission) : admission_(admission) {}
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Counts more bytes. Returns false if the total exceeds the limit.
    bool add(int64_t bytes);
    /// Call when the body is complete. Throws HttpError 503 if the limit of requests is reached.
    void accept();
    /// Releases its usage. Called before the response is sent, so that the client's next request finds room.
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

/// Returns the answer of a server at its memory limit.
HttpError no_room();

}  // namespace protocom::http
