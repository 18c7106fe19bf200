#include "standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace protocom::cli {
namespace {

/// Results that were meant for a closed standard output must fail, and be reported, instead of vanishing.
void open_missing(int descriptor, int flags) {
  if (::fcntl(descriptor, F_GETFD) >= 0) return;
  const int opened = ::open("/dev/null", flags);
  if (opened >= 0 && opened != descriptor) {
    ::dup2(opened, descriptor);
    ::close(opened);
  }
}

ssize_t write_results(void* /*cookie*/, const char* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::write(STDOUT_FILENO, data + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EPIPE ? static_cast<ssize_t>(size) : 0;
    done += static_cast<size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  open_missing(STDIN_FILENO, O_RDONLY);
  open_missing(STDOUT_FILENO, O_RDONLY);
  open_missing(STDERR_FILENO, O_WRONLY);
  FILE* results = ::fopencookie(nullptr, "w", {nullptr, &write_results, nullptr, nullptr});
  if (results == nullptr) return;
  if (::isatty(STDOUT_FILENO) != 0) std::setvbuf(results, nullptr, _IOLBF, BUFSIZ);
  stdout = results;
}

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace protocom::cli
