#pragma once
#include <spdlog/logger.h>

namespace protocom {

/// What writes logger()'s messages: where they go and from which level on. Sinks are added before other threads log.
spdlog::logger& log_backend();

}  // namespace protocom
