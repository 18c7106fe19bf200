#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace protocom::http {

/// Limits requests per minute for each key: a bucket that holds a tenth of a minute's requests, at least one, and fills
/// evenly. Not thread-safe.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes one request of a key. Returns 0 or, if there is none left, the seconds until there will be one.
  int take(const std::string& key, int64_t per_minute, Clock::time_point now);

 private:
  struct Bucket {
    double left = 0;
    Clock::time_point at;
  };
  std::map<std::string, Bucket> buckets_;
};

}  // namespace protocom::http
