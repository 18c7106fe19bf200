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

/// What a route asks of whoever calls it.
enum class Asks { kNothing, kRead, kWrite };

/// Who may do what. With keys: the role of the key in `Authorization: Bearer KEY`, so many requests a minute. Without:
/// everybody on this machine, but no web page of another site that a browser here shows: those are told by the names in
/// Host and Origin, and by Sec-Fetch-Site. Thread-safe.
class Guard {
 public:
  /// `keys` may be empty: none are asked for. `origins`: other sites whose pages may ask, "*" for all. Throws
  /// UsageError for an origin that is none, and for any without keys; and what ApiKeys::read throws.
  explicit Guard(std::filesystem::path keys, std::vector<std::string> origins = {});

  /// Whether the pages of this site, which is another, may ask.
  [[nodiscard]] bool allows_origin(const std::string& origin) const;

  /// Throws HttpError 401, 403 or 429.
  void check(const Head& head, Asks asks);

 private:
  /// Which bytes a file holds, and who may read it, as far as that can be told without reading it.
  using Stamp = std::tuple<ino_t, off_t, int64_t, int64_t, int64_t, int64_t>;
  static Stamp stamp_of(const std::filesystem::path& path);
  void read_changes();
  ApiKey key_of(const Head& head);

  std::filesystem::path path_;
  std::vector<std::string> origins_;
  std::mutex mutex_;
  ApiKeys keys_;
  Stamp read_;  // of what was read last, or could not be
  RateLimit rate_;
};

}  // namespace protocom::http
