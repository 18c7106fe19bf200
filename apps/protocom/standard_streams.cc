#include "standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/utf8.h"

namespace protocom::cli {
namespace {

/// Opens a missing descriptor, so that printing results to a closed standard output fails and is reported.
void open_missing(int descriptor, int flags) {
  if (::fcntl(descriptor, F_GETFD) >= 0) return;
  const int opened = ::open("/dev/null", flags);
  if (opened >= 0 && opened != descriptor) {
    ::dup2(opened, descriptor);
    ::close(opened);
  }
}

/// Writes everything; returns false on failure. Output without a reader counts as written.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EPIPE;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

ssize_t write_results(void* /*cookie*/, const char* data, size_t size) {
  return write_all(STDOUT_FILENO, {data, size}) ? static_cast<ssize_t>(size) : 0;
}

/// Writes to the terminal without control characters, which names of files may contain.
ssize_t write_to_terminal(void* /*cookie*/, const char* data, size_t size) {
  return write_all(STDOUT_FILENO, without_steering({data, size})) ? static_cast<ssize_t>(size) : 0;
}

}  // namespace

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  open_missing(STDIN_FILENO, O_RDONLY);
  open_missing(STDOUT_FILENO, O_RDONLY);
  open_missing(STDERR_FILENO, O_WRONLY);
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const auto write = is_terminal ? &write_to_terminal : &write_results;
  FILE* results = ::fopencookie(nullptr, "w", {nullptr, write, nullptr, nullptr});
  if (results == nullptr) return;
  if (is_terminal) std::setvbuf(results, nullptr, _IOLBF, BUFSIZ);
  stdout = results;
}

void print_coloured(std::string_view text) {
  std::fflush(stdout);
  // Coloured text bypasses this filter on a terminal; elsewhere there are no colours.
  if (::isatty(STDOUT_FILENO) != 0) {
    write_all(STDOUT_FILENO, text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

void say(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace protocom::cli
