#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace protocom {

/// The world's or the caller's fault: bad input, I/O, a bad format. The message says what was expected, what was found,
/// where (`attributes.csv:17`) and what to do. The command line exits with 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A request that cannot be right whatever the files hold (an unknown method, a negative shot). The command line exits
/// with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws UsageError with a formatted message.
template <typename... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace protocom
