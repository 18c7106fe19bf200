#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

namespace protocom::http {

/// Why a request is refused. Its message goes to the client and must not contain internals.
struct HttpError {
  int status = 500;
  std::string message;
  int retry_after = 0;     ///< seconds; 0: no Retry-After
  std::string allow = {};  ///< methods, for a 405
};

/// Throws an HttpError with a formatted message.
template <typename... Args>
[[noreturn]] void refuse(int status, fmt::format_string<Args...> format, Args&&... args) {
  throw HttpError{status, fmt::format(format, std::forward<Args>(args)...)};
}

/// Refuses a request that may be sent again after this many seconds.
[[noreturn]] inline void refuse_for_now(int status, int seconds, const std::string& message) {
  throw HttpError{status, message, seconds};
}

/// Returns the error for the client; a fault of the server is logged in more detail. Called while an exception is
/// handled.
HttpError translate_exception();

}  // namespace protocom::http
