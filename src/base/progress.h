#pragma once
#include <cstdint>
#include <string_view>

namespace protocom {

/// Receives the progress of a long job; this one ignores everything. The library calls it from the thread that runs the
/// job; it draws nothing itself.
class Progress {
 public:
  virtual ~Progress() = default;

  /// A job called `what` of `total` steps begins; any job before it has ended.
  virtual void start(std::string_view /*what*/, int64_t /*total*/) {}

  /// `done` of the steps are finished; `detail` is a short text of figures ("loss 0.123").
  virtual void advance(int64_t /*done*/, std::string_view /*detail*/) {}

  /// The job has ended.
  virtual void finish() {}

  /// One of these.
  static Progress& none();
};

}  // namespace protocom
