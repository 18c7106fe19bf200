#pragma once
#include <atomic>
#include <memory>

#include "http/detail/http_error.h"

namespace protocom::http {

/// Cancels a request whose client has disconnected, or that still runs when the time limit for stopping the server is
/// over. Long work calls check() between its steps. Thread-safe.
class Cancellation {
 public:
  void cancel() { cancelled_ = true; }
  /// Throws HttpError 503 once the request is cancelled.
  void check() const {
    if (cancelled_)
      refuse_for_now(503, 1, "the request was cancelled: its client disconnected or the server is stopping");
  }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace protocom::http
