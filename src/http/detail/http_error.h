#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

namespace protocom::http {

/// Why a request is not answered as it asks. What it says goes to the client: nothing internal.
struct HttpError {
  int status = 500;
  std::string message;
  int retry_after = 0;     ///< seconds; 0: no Retry-After
  std::string allow = {};  ///< methods, of a 405
};

/// Throws one with a formatted message.
template <typename... Args>
[[noreturn]] void refuse(int status, fmt::format_string<Args...> format, Args&&... args) {
  throw HttpError{status, fmt::format(format, std::forward<Args>(args)...)};
}

/// A request that may be sent again after so many seconds.
[[noreturn]] inline void refuse_for_now(int status, int seconds, const std::string& message) {
  throw HttpError{status, message, seconds};
}

/// What went wrong, as the client may know it; the log says more where it is the server's fault. Called while an
/// exception is handled.
HttpError translate_exception();

}  // namespace protocom::http
