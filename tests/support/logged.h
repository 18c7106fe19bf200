#pragma once
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

#include "protocom/core/log.h"

namespace protocom::testing {

/// What the library logs while this object lives.
class Logged {
 public:
  Logged() : sink_(std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)) { logger().sinks().push_back(sink_); }
  ~Logged() { logger().sinks().pop_back(); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink_;
};

}  // namespace protocom::testing
