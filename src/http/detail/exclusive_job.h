#pragma once
#include <atomic>
#include <string>

#include "base/progress.h"
#include "http/detail/cancellation.h"
#include "http/detail/http_error.h"

namespace protocom::http {

/// A kind of long job, of which only one runs at a time.
struct ExclusiveKind {
  const char* another;  ///< names a running one: "another export"
  std::atomic<bool> is_taken{false};
};

/// A running job of a kind. Throws HttpError 503 while another one runs.
class ExclusiveJob {
 public:
  explicit ExclusiveJob(ExclusiveKind& kind) : kind_(kind) {
    if (kind_.is_taken.exchange(true))
      refuse_for_now(503, 5, std::string(kind_.another) + " is running: send the request again later");
  }
  ~ExclusiveJob() { kind_.is_taken = false; }
  ExclusiveJob(const ExclusiveJob&) = delete;
  ExclusiveJob& operator=(const ExclusiveJob&) = delete;

 private:
  ExclusiveKind& kind_;
};

/// Ends such a job at its next step once its request is cancelled.
class CancellableProgress : public Progress {
 public:
  explicit CancellableProgress(const Cancellation& cancellation) : cancellation_(cancellation) {}
  void start(std::string_view /*what*/, int64_t /*total*/) override { cancellation_.check(); }
  void advance(int64_t /*done*/, std::string_view /*detail*/) override { cancellation_.check(); }
  void finish() override { cancellation_.check(); }

 private:
  const Cancellation& cancellation_;
};

}  // namespace protocom::http
