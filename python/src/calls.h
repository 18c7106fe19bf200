#pragma once
#include <pybind11/pybind11.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/reported_progress.h"

namespace protocom::python {

namespace py = pybind11;

/// Translates protocom's Error and UsageError, and exceptions of other libraries, to Python's protocom.Error and
/// UsageError.
void translate_errors();

/// Starts collecting what the library logs.
void collect_log();
/// Passes what was logged since to Python's logger "protocom"; cheap if there is nothing.
void forward_log();

/// Returns the result of `work`, which runs while other Python threads do.
template <typename Work>
auto unlocked(const Work& work) {
  struct Forward {
    ~Forward() { forward_log(); }
  } forward;
  const py::gil_scoped_release release;
  return work();
}

/// Calls a Python callable with (what, done, total, detail); None: no callable. Ctrl-C aborts the job.
class PythonProgress : public ReportedProgress {
 public:
  explicit PythonProgress(py::object callback);
};

/// Converts JSON to Python's dicts, lists and numbers.
py::object python_of(const nlohmann::json& json);

}  // namespace protocom::python
