#pragma once
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include "protocom/core/log.h"

namespace protocom::testing {

/// What the library logs while this object lives.
class Logged {
 public:
  Logged() : sink_(std::make_shared<Sink>(text_)) { logger().sinks().push_back(sink_); }
  ~Logged() { logger().sinks().pop_back(); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  /// So far; other threads may go on logging.
  [[nodiscard]] std::string text() const { return sink_->text(); }

 private:
  class Sink : public spdlog::sinks::ostream_sink_mt {
   public:
    explicit Sink(std::ostringstream& text) : ostream_sink_mt(text), text_(text) {}
    [[nodiscard]] std::string text() {
      const std::lock_guard lock(mutex_);
      return text_.str();
    }

   private:
    std::ostringstream& text_;
  };

  std::ostringstream text_;
  std::shared_ptr<Sink> sink_;
};

}  // namespace protocom::testing
