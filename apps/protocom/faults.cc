#include "faults.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/running_program.h"

namespace protocom::cli {
namespace {

constexpr int kFaulted = 1;  // as for any failure

/// Writes a text; nothing else may be done in a signal handler.
void put(const char* text) { [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text)); }

[[maybe_unused]] void on_fault(int signal) {
  const char* file = RunningProgram::running();
  if (file == nullptr && signal != SIGBUS) return;  // again, and the default action follows
  put("protocom: ");
  if (file != nullptr) {
    put(file);
    put(" made LibTorch crash: the file is damaged, or made for another LibTorch\n");
  } else {
    put("a file was truncated, or its disk failed, while it was read\n");
  }
  ::_exit(kFaulted);
}

}  // namespace

void catch_faults() {
#ifndef PROTOCOM_SANITIZED                 // whose report is longer
  static std::array<char, 1 << 16> stack;  // the fault may be a full stack
  stack_t place{};
  place.ss_sp = stack.data();
  place.ss_size = stack.size();
  ::sigaltstack(&place, nullptr);
  struct sigaction action {};
  action.sa_handler = &on_fault;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(signal, &action, nullptr);
#endif
}

}  // namespace protocom::cli
