#pragma once
#include <atomic>
#include <string>

#include "base/progress.h"
#include "http/detail/cancellation.h"
#include "http/detail/http_error.h"

namespace protocom::http {

/// A long job, of which only one runs at a time: a calibration, a test, or an estimate of the accuracy; an export.
/// Throws HttpError 503, which names `another`, while another one runs.
class ExclusiveJob {
 public:
  explicit ExclusiveJob(std::atomic<bool>& taken,
                        const char* another = "another calibration, test or estimate of the accuracy")
      : taken_(taken) {
    if (taken_.exchange(true))
      refuse_for_now(503, 5, std::string(another) + " is running: send the request again later");
  }
  ~ExclusiveJob() { taken_ = false; }
  ExclusiveJob(const ExclusiveJob&) = delete;
  ExclusiveJob& operator=(const ExclusiveJob&) = delete;

 private:
  std::atomic<bool>& taken_;
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
