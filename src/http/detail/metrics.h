#pragma once
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace protocom::http {

/// A request that was answered.
struct Answered {
  std::string method;
  std::string route;  ///< its pattern, not what the client sent; "none" if there is no such route
  int status = 200;
  std::chrono::duration<double> time{};
};

/// What /metrics shows (docs/server.md). Thread-safe.
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void count(const Answered& answered);
  /// Images that went through the backbone together.
  void count_batch(int64_t images);
  void set_waiting(int64_t images);
  void add_connections(int64_t by);
  /// In the text format of Prometheus.
  [[nodiscard]] std::string text();

 private:
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& seconds_;
  prometheus::Counter& images_;
  prometheus::Histogram& batch_;
  prometheus::Gauge& waiting_;
  prometheus::Gauge& connections_;
  prometheus::Gauge& memory_;
};

}  // namespace protocom::http
