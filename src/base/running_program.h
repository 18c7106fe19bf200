#pragma once
#include <string>

namespace protocom {

/// Marks, for its lifetime, that code from `file` runs in this process (a TorchScript model is a program). A program
/// that catches SIGSEGV can then name the file at fault.
class RunningProgram {
 public:
  explicit RunningProgram(const std::string& file);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// The file whose code is running; nullptr if there is none. Safe in a signal handler.
  static const char* running();
};

}  // namespace protocom
