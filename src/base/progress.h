#pragma once
#include <cstdint>
#include <string_view>

namespace protocom {

/// Receives the progress of a long job; this base class ignores everything. The library calls it in the thread that
/// runs the job, and displays nothing itself.
class Progress {
 public:
  virtual ~Progress() = default;

  /// Begins a job called `what` of `total` steps; any job before it has ended.
  virtual void start(std::string_view /*what*/, int64_t /*total*/) {}

  /// Reports that `done` steps are finished; `detail` is a short text of figures ("loss 0.123").
  virtual void advance(int64_t /*done*/, std::string_view /*detail*/) {}

  /// Ends the job.
  virtual void finish() {}

  /// Returns an instance of this class.
  static Progress& none();
};

}  // namespace protocom
