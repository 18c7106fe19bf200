#pragma once
#include <spdlog/logger.h>

namespace protocom {

/// Returns the backend of logger(), with its sinks and level. Add sinks before other threads log.
spdlog::logger& log_backend();

}  // namespace protocom
