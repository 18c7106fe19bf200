#pragma once
#include <exception>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/reported_progress.h"
#include "protocom/error.h"
#include "protocom/progress.h"
#include "protocom/rows.h"

// Wrappers of every public call. In this module `protocom::Recognizer` is the module's, and names without a namespace
// are the public ones.
namespace protocom::v0 {

/// Sets up what a process needs before its first call; cheap afterwards.
void prepare();

/// Rethrows the current exception as a public Error or UsageError; an exception of a caller's function unchanged.
[[noreturn]] void rethrow();

/// Returns how many public calls this thread is in.
int& calls_within();

/// Sets that number during its lifetime.
class CallScope {
 public:
  explicit CallScope(int calls) : before_(calls_within()) { calls_within() = calls; }
  ~CallScope() { calls_within() = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  int before_;
};

/// Returns the result of `work`, converting exceptions to public ones at the outermost call.
template <typename Work>
auto guarded(const Work& work) -> decltype(work()) {
  if (calls_within() > 0) return work();
  const CallScope scope(1);
  try {
    prepare();
    return work();
  } catch (...) {
    rethrow();
  }
}

/// An exception of a caller's function on its way through the library, where nothing catches it.
struct ThrownByCaller {
  std::exception_ptr exception;
};

/// Runs a caller's function; calls into the library from it count as new outermost calls.
template <typename Work>
auto by_caller(const Work& work) -> decltype(work()) {
  const CallScope outside(0);
  try {
    return work();
  } catch (...) {
    throw ThrownByCaller{std::current_exception()};
  }
}

/// Collects the library's warnings during its lifetime: those of the thread that made it, and those of threads without
/// a collector of their own.
class Collected {
 public:
  Collected();
  ~Collected();
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;
  /// Returns the warnings so far, each once.
  [[nodiscard]] Warnings warnings() const;
};

/// Returns the result of `work`, including the warnings logged meanwhile.
template <typename Work>
auto with_warnings(const Work& work) -> decltype(work()) {
  return guarded([&] {
    const Collected collected;
    auto result = work();
    result.warnings = collected.warnings();
    return result;
  });
}

/// Wraps a caller's function as a Progress.
class CallerProgress : public ReportedProgress {
 public:
  explicit CallerProgress(const v0::Progress& report);
};

/// Returns [rows, dim] of float32 that shares the caller's memory, or a copy of doubles; `what` names it in the error
/// if it has no row.
Array array_of(const Rows& rows, const char* what);
/// Returns an array as float32 [n, d].
Matrix matrix_of(const Array& array);

/// Returns the given names, those of the labels, or one number per class. Throws Error for names in both, and for
/// invalid labels.
std::vector<std::string> names_for(const Labels& labels, const std::vector<std::string>& given);
/// Throws Error unless there is one label per row.
void check_one_label_a_row(const Labels& labels, int64_t rows);

}  // namespace protocom::v0
