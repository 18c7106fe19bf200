#include "base/stop_signal.h"

#include <fmt/format.h>

#include <csignal>

namespace protocom {

bool StopSignal::request(int signal) noexcept {
  int none = 0;
  signal_.compare_exchange_strong(none, signal);
  return listeners_ > 0;
}

StopSignal::Listener::Listener(StopSignal* signal) : signal_(signal) {
  if (signal_ != nullptr) ++signal_->listeners_;
}

StopSignal::Listener::~Listener() {
  if (signal_ != nullptr) --signal_->listeners_;
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return fmt::format("signal {}", signal);
  }
}

}  // namespace protocom
