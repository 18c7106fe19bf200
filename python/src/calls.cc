#include "calls.h"

#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log_sinks.h"

namespace protocom::python {
namespace {

/// Keeps messages until a thread that holds the GIL fetches them: the threads that log may not take it.
class KeepingSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  using Message = std::pair<int, std::string>;  // Python's level

  [[nodiscard]] bool has_messages() const { return has_messages_; }
  std::vector<Message> take() {
    const std::lock_guard lock(mutex_);
    has_messages_ = false;
    return std::exchange(messages_, {});
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    messages_.emplace_back(10 * static_cast<int>(message.level),
                           one_line({message.payload.data(), message.payload.size()}));
    has_messages_ = true;
  }
  void flush_() override {}

 private:
  std::atomic<bool> has_messages_ = false;
  std::vector<Message> messages_;
};

std::shared_ptr<KeepingSink>& kept_log() {
  static auto sink = std::make_shared<KeepingSink>();
  return sink;
}

void raise(const char* name, const std::string& message) {
  const py::object type = py::module_::import("protocom._errors").attr(name);
  PyErr_SetString(type.ptr(), one_line(message).c_str());
}

}  // namespace

void translate_errors() {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const UsageError& error) {
      raise("UsageError", error.what());
    } catch (const Error& error) {
      raise("Error", error.what());
    } catch (const std::filesystem::filesystem_error& error) {
      raise("Error", reason_of(error));
    } catch (const py::cast_error&) {
      raise("TypeRefused", "an argument is of another type than expected, or too large");
    } catch (const py::error_already_set&) {
      throw;
    } catch (const std::logic_error&) {
      throw;
    } catch (const std::runtime_error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // of JSON, and of LibTorch, whose types are not known here
      raise("Error", reason_of(error));
    }
  });
}

void collect_log() { log_backend().sinks().push_back(kept_log()); }

void forward_log() {
  if (!kept_log()->has_messages()) return;
  const py::error_scope kept;  // preserves an error in flight
  try {
    const py::object log = py::module_::import("protocom._words").attr("log");
    for (const auto& [level, text] : kept_log()->take()) log(level, text);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("protocom's log");
  }
}

PythonProgress::PythonProgress(py::object callback)
    : ReportedProgress([callback = std::move(callback)](const std::string& job, int64_t done, int64_t total,
                                                        const std::string& detail) {
        const py::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (!callback.is_none()) callback(job, done, total, detail);
      }) {}

py::object python_of(const nlohmann::json& json) { return py::module_::import("json").attr("loads")(json_text(json)); }

}  // namespace protocom::python
