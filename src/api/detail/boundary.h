#pragma once
#include <exception>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/reported_progress.h"
#include "protocom/error.h"
#include "protocom/progress.h"
#include "protocom/rows.h"

// What every public call goes through. In this module `protocom::Recognizer` is the module's, and what is
// named without a namespace is the public one.
namespace protocom::v0 {

/// What a process needs before its first call; cheap afterwards.
void prepare();

/// Throws the exception that is being handled as a public Error or UsageError; one of the caller's own functions as it
/// was.
[[noreturn]] void rethrow();

/// How many public calls this thread is in.
int& calls_within();

/// Sets that number while it lives.
class CallScope {
 public:
  explicit CallScope(int calls) : before_(calls_within()) { calls_within() = calls; }
  ~CallScope() { calls_within() = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  int before_;
};

/// The result of `work`, whose exceptions are public ones where they leave the outermost call.
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

/// An exception of a function that the caller gave, on its way through the library: it is not caught there.
struct ThrownByCaller {
  std::exception_ptr exception;
};

/// Runs a function that the caller gave; what that calls of the library is a call of its own.
template <typename Work>
auto by_caller(const Work& work) -> decltype(work()) {
  const CallScope outside(0);
  try {
    return work();
  } catch (...) {
    throw ThrownByCaller{std::current_exception()};
  }
}

/// What the library warns of while this lives: what the thread that made it logs, and what threads log that have none
/// of their own.
class Collected {
 public:
  Collected();
  ~Collected();
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;
  /// So far, each once.
  [[nodiscard]] Warnings warnings() const;
};

/// The result of `work`, which carries what was warned of meanwhile.
template <typename Work>
auto with_warnings(const Work& work) -> decltype(work()) {
  return guarded([&] {
    const Collected collected;
    auto result = work();
    result.warnings = collected.warnings();
    return result;
  });
}

/// A caller's function as the library reports to it.
class CallerProgress : public ReportedProgress {
 public:
  explicit CallerProgress(const v0::Progress& report);
};

/// [rows, dim] of float32 on the caller's memory, or a copy of doubles; `what` names it where it has no row.
Array array_of(const Rows& rows, const char* what);
/// float32 [n, d] as the library gives it.
Matrix matrix_of(const Array& array);

/// Names given, of the labels, or as many numbers as the labels have. Throws Error for both, and for labels that cannot
/// be.
std::vector<std::string> names_for(const Labels& labels, const std::vector<std::string>& given);
/// Throws Error.
void check_one_label_a_row(const Labels& labels, int64_t rows);

}  // namespace protocom::v0
