#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "protocom/http/server_options.h"

namespace protocom::http {

/// Counts requests that are accepted and not yet answered, and the bytes of their bodies. Thread-safe.
class Admission {
 public:
  explicit Admission(const ServerLimits& limits) : limits_(limits) {}

  /// A request's place, for as long as this lives.
  class Place {
   public:
    Place(Admission& admission, int64_t bytes);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Admission& admission_;
    int64_t bytes_;
  };

  /// A place for a request with a body of so many bytes. Throws HttpError 503 when there is none.
  std::shared_ptr<Place> admit(int64_t bytes);

  [[nodiscard]] int64_t requests() const { return requests_; }

 private:
  ServerLimits limits_;
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> bytes_{0};
};

}  // namespace protocom::http
