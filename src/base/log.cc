#include "base/log.h"

#include <fmt/format.h>

#include "base/log_sinks.h"
#include "base/quiet.h"

namespace protocom {
namespace {

spdlog::level::level_enum backend_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

thread_local int quiet = 0;  // number of live Quiet objects

}  // namespace

Quiet::Quiet() { ++quiet; }

Quiet::~Quiet() { --quiet; }

bool Quiet::is_on() { return quiet > 0; }

spdlog::logger& log_backend() {
  static spdlog::logger instance("protocom");
  return instance;
}

const Logger& logger() {
  static const Logger kLogger;
  return kLogger;
}

bool Logger::writes(LogLevel level) const { return !Quiet::is_on() && log_backend().should_log(backend_level(level)); }

void Logger::write(LogLevel level, fmt::string_view format, fmt::format_args args) const {
  if (writes(level)) log_backend().log(backend_level(level), spdlog::string_view_t(fmt::vformat(format, args)));
}

}  // namespace protocom
