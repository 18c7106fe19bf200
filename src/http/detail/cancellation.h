#pragma once
#include <atomic>
#include <memory>

#include "http/detail/http_error.h"

namespace protocom::http {

/// Whether the answer to a request is still wanted: not once its client has gone, nor where the server stops and has
/// waited long enough. Whoever works for long asks between its steps. Thread-safe.
class Cancellation {
 public:
  void cancel() { cancelled_ = true; }
  /// Throws HttpError 503 once it is cancelled.
  void check() const {
    if (cancelled_)
      refuse_for_now(503, 1, "the request was cancelled: its client disconnected or the server is stopping");
  }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace protocom::http
