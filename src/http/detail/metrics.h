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

/// An answered request.
struct Answered {
  std::string method;
  std::string route;  ///< its pattern, not the client's text; "none" if there is no such route
  int status = 200;
  std::chrono::duration<double> time{};
};

/// The metrics of /metrics (docs/server.md). Thread-safe.
class Metrics {
 public:
  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void count(const Answered& answered);
  /// Counts images that went through the backbone in one pass.
  void count_batch(int64_t images);
  void set_waiting(int64_t images);
  void add_connections(int64_t by);
  /// Returns the metrics in the text format of Prometheus.
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
