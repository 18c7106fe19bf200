#pragma once
#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/log_sinks.h"

namespace protocom::testing {

/// Collects what the library logs during its lifetime.
class Logged {
 public:
  Logged() : sink_(std::make_shared<Sink>()) { log_backend().sinks().push_back(sink_); }
  ~Logged() { log_backend().sinks().pop_back(); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  /// Returns the log so far; other threads may continue logging.
  [[nodiscard]] std::string text() const { return sink_->text(); }

 private:
  class Sink : public spdlog::sinks::base_sink<std::mutex> {
   public:
    [[nodiscard]] std::string text() {
      const std::lock_guard lock(mutex_);
      return text_;
    }

   protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
      spdlog::memory_buf_t line;
      formatter_->format(message, line);
      text_.append(line.data(), line.size());
    }
    void flush_() override {}

   private:
    std::string text_;
  };

  std::shared_ptr<Sink> sink_;
};

}  // namespace protocom::testing
