#pragma once
#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "protocom/error.h"

namespace protocom {

/// Returns external text as one line for a terminal: white space and line ends become single spaces, control
/// characters, line separators and changes of writing direction become question marks, invalid UTF-8 is shown as in
/// "caf\xe9": names of files and classes may be any bytes.
std::string one_line(std::string_view text);

/// Returns a value as quoted in a message: truncated between two letters to at most `longest` bytes, counting the
/// ellipsis as one ("abcdefg…").
std::string excerpt(std::string_view text, size_t longest = 80);

/// Returns the message of another library's exception, as one sentence without prefixes and stack traces
/// ("out of memory"); an Error's own message unchanged.
std::string reason_of(const std::exception& error);

/// Throw Error and UsageError. fail and fail_usage call these, so that each use compiles to one function call.
[[noreturn]] void throw_error(fmt::string_view format, fmt::format_args args);
[[noreturn]] void throw_usage_error(fmt::string_view format, fmt::format_args args);

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, const Args&... args) {
  throw_error(format, fmt::make_format_args(args...));
}

/// Throws UsageError with a formatted message.
template <typename... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, const Args&... args) {
  throw_usage_error(format, fmt::make_format_args(args...));
}

}  // namespace protocom
