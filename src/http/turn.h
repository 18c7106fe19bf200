#pragma once
#include <atomic>

#include "http/http_error.h"

namespace protocom::http {

/// One at a time of what takes the processor for long: calibrations, and estimates of the accuracy. Throws HttpError
/// 503 while another one has the turn.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true))
      refuse_for_now(503, 5, "another calibration, or an estimate of the accuracy, is being made");
  }
  ~Turn() { taken_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& taken_;
};

}  // namespace protocom::http
