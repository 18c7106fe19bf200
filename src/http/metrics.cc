#include "http/detail/metrics.h"

#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <fstream>

namespace protocom::http {
namespace {

const prometheus::Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                          0.25,  0.5,    1,     2.5,  5,     10,   30};
const prometheus::Histogram::BucketBoundaries kImages = {1, 2, 4, 8, 16, 32, 64, 128, 256};

template <typename Build>
auto& family(prometheus::Registry& registry, Build build, const char* name, const char* help) {
  return build().Name(name).Help(help).Register(registry);
}

/// Returns the resident memory of this process.
double resident_bytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Metrics::Metrics()
    : requests_(family(registry_, prometheus::BuildCounter, "protocom_requests_total", "Answered requests")),
      seconds_(family(registry_, prometheus::BuildHistogram, "protocom_request_seconds",
                      "Time from a request's headers to its response")),
      images_(family(registry_, prometheus::BuildCounter, "protocom_images_total", "Images that the encoder processed")
                  .Add({})),
      batch_(family(registry_, prometheus::BuildHistogram, "protocom_batch_images",
                    "Images of one forward pass of the encoder")
                 .Add({}, kImages)),
      waiting_(family(registry_, prometheus::BuildGauge, "protocom_waiting_images", "Images waiting for the encoder")
                   .Add({})),
      connections_(family(registry_, prometheus::BuildGauge, "protocom_connections", "Open connections").Add({})),
      memory_(family(registry_, prometheus::BuildGauge, "process_resident_memory_bytes", "Resident memory").Add({})) {}

void Metrics::count(const Answered& answered) {
  requests_.Add({{"method", answered.method}, {"route", answered.route}, {"status", std::to_string(answered.status)}})
      .Increment();
  seconds_.Add({{"route", answered.route}}, kSeconds).Observe(answered.time.count());
}

void Metrics::count_batch(int64_t images) {
  images_.Increment(static_cast<double>(images));
  batch_.Observe(static_cast<double>(images));
}

void Metrics::set_waiting(int64_t images) { waiting_.Set(static_cast<double>(images)); }

void Metrics::add_connections(int64_t by) { connections_.Increment(static_cast<double>(by)); }

std::string Metrics::text() {
  memory_.Set(resident_bytes());
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace protocom::http
