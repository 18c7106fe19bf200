#include "http/detail/rate_limit.h"

#include <algorithm>
#include <cmath>

#include "base/to_whole.h"

namespace protocom::http {

int RateLimit::take(const std::string& key, int64_t per_minute, Clock::time_point now) {
  const double a_second = static_cast<double>(per_minute) / 60;
  const double size = std::max(1.0, static_cast<double>(per_minute) / 10);
  const auto [found, is_new] = buckets_.try_emplace(key, Bucket{size, now});
  Bucket& bucket = found->second;
  bucket.left = std::min(size, bucket.left + std::chrono::duration<double>(now - bucket.at).count() * a_second);
  bucket.at = now;
  if (bucket.left < 1) return std::max(1, to_whole<int>(std::ceil((1 - bucket.left) / a_second)));
  bucket.left -= 1;
  return 0;
}

}  // namespace protocom::http
