#pragma once
#include <fmt/core.h>

namespace protocom {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// The library's own log, named "protocom". It has no sink until the program gives it one (base/log_sinks.h), so the
/// library never prints. Thread-safe. Usage: `logger().warn("{} words were not found", n);` spdlog writes the messages
/// but is not included here: its templates cost each logging source a second of compilation.
class Logger {
 public:
  template <typename... Args>
  void debug(fmt::format_string<Args...> format, const Args&... args) const {
    write(LogLevel::kDebug, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, const Args&... args) const {
    write(LogLevel::kInfo, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, const Args&... args) const {
    write(LogLevel::kWarning, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> format, const Args&... args) const {
    write(LogLevel::kError, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void log(LogLevel level, fmt::format_string<Args...> format, const Args&... args) const {
    write(level, format, fmt::make_format_args(args...));
  }

  /// Whether a message of this level would be written.
  [[nodiscard]] bool writes(LogLevel level) const;

 private:
  void write(LogLevel level, fmt::string_view format, fmt::format_args args) const;
};

/// Returns the library's logger; thread-safe.
const Logger& logger();

}  // namespace protocom
