#pragma once
#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "http/api_keys.h"
#include "http/detail/message.h"
#include "http/detail/rate_limit.h"

namespace protocom::http {

/// The access that a route requires.
enum class Asks { kNothing, kRead, kWrite };

/// Access control. With keys: the role of the key in `Authorization: Bearer KEY`, and its requests per minute. Without
/// keys: every program on this machine, but no page of another site in a browser here, by Host, Origin and
/// Sec-Fetch-Site. Thread-safe.
class Guard {
 public:
  /// `keys` may be empty: no key is required. `origins`: other sites whose pages may call the server, "*" for all.
  /// Throws UsageError for an invalid origin, and for any without keys; and what ApiKeys::read throws.
  explicit Guard(std::filesystem::path keys, std::vector<std::string> origins = {});

  /// Whether pages of this other site may call the server.
  [[nodiscard]] bool allows_origin(const std::string& origin) const;

  /// Throws HttpError 401, 403 or 429.
  void check(const Head& head, Asks asks);

 private:
  /// Identifies a file's content and permissions, without reading it.
  using Stamp = std::tuple<ino_t, off_t, int64_t, int64_t, int64_t, int64_t>;
  static Stamp stamp_of(const std::filesystem::path& path);
  void read_changes();
  ApiKey key_of(const Head& head);

  std::filesystem::path path_;
  std::vector<std::string> origins_;
  std::mutex mutex_;
  ApiKeys keys_;
  Stamp read_;  // of the file that was read last, or could not be
  RateLimit rate_;
};

}  // namespace protocom::http
