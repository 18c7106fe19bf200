#pragma once
#include <filesystem>
#include <mutex>

#include "http/message.h"
#include "http/rate_limit.h"
#include "protocom/http/api_keys.h"

namespace protocom::http {

/// What a route asks of whoever calls it.
enum class Asks { kNothing, kRead, kWrite };

/// Who may do what. With keys: the role of the key in `Authorization: Bearer KEY`, so many requests a minute. Without:
/// everybody on this machine, but no web page of another site that a browser here shows: those are told by the names in
/// Host and Origin. Thread-safe.
class Guard {
 public:
  /// `keys` may be empty: none are asked for. Throws what ApiKeys::read throws.
  explicit Guard(std::filesystem::path keys);

  /// Throws HttpError 401, 403 or 429.
  void check(const Head& head, Asks asks);

 private:
  ApiKey key_of(const Head& head);

  std::filesystem::path path_;
  std::mutex mutex_;
  ApiKeys keys_;
  std::filesystem::file_time_type read_at_;  // when what keys_ holds was written
  RateLimit rate_;
};

}  // namespace protocom::http
