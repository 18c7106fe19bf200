#pragma once
#include <spdlog/logger.h>

namespace protocom {

/// The library's own logger, named "protocom". It has no sink until the program gives it one, so the library never
/// prints. Thread-safe. Usage: `logger().warn("{} words were not found", n);`
spdlog::logger& logger();

}  // namespace protocom
