#pragma once

namespace protocom::detail {

/// Writes the failed condition and its place to stderr and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace protocom::detail

/// An assertion that stays in release builds: a failure is our bug, never the caller's or the input's (throw Error for
/// those).
#define PROTOCOM_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::protocom::detail::check_failed(#condition, __FILE__, __LINE__))
