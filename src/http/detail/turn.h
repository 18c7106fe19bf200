#pragma once
#include <atomic>

#include "base/progress.h"
#include "http/detail/cancellation.h"
#include "http/detail/http_error.h"

namespace protocom::http {

/// One at a time of what takes the processor for long: calibrations, and estimates of the accuracy. Throws HttpError
/// 503 while another one has the turn.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true))
      refuse_for_now(503, 5, "another calibration, or an estimate of the accuracy, is running");
  }
  ~Turn() { taken_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& taken_;
};

/// Ends such work at its next step once nobody waits for it.
class WhileWanted : public Progress {
 public:
  explicit WhileWanted(const Cancellation& cancellation) : cancellation_(cancellation) {}
  void start(std::string_view /*what*/, int64_t /*total*/) override { cancellation_.check(); }
  void advance(int64_t /*done*/, std::string_view /*detail*/) override { cancellation_.check(); }
  void finish() override { cancellation_.check(); }

 private:
  const Cancellation& cancellation_;
};

}  // namespace protocom::http
