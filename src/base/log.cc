#include "base/log.h"

namespace protocom {

spdlog::logger& logger() {
  static spdlog::logger instance("protocom");
  return instance;
}

}  // namespace protocom
